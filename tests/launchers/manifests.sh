# SPDX-License-Identifier: Apache-2.0
# The files of samples/hosts say the same as weft reads: the variables, the names of pods, one size. Those for Kubernetes
# are compared with its API's types, the unit with systemd's.
skip() {
  echo "skipped: $*"
  exit 77
}
cd "$SAMPLES/hosts"
/usr/bin/python3 -c 'import yaml, kubernetes' 2>/dev/null || skip "python3-kubernetes is not installed (packages/long.txt)"

/usr/bin/python3 - <<'END'
import re, yaml
from kubernetes.client import models

def check(part, kind, where):
    """Each name is one of the type's, and so on for what is in it."""
    if kind.startswith("list["):
        return [check(one, kind[5:-1], f"{where}[{i}]") for i, one in enumerate(part)]
    if not hasattr(models, kind):
        scalar = {"str": str, "int": int, "bool": bool}.get(kind)
        assert scalar is None or isinstance(part, scalar), f"{where}: {part!r} is no {kind}"
        return
    type_ = getattr(models, kind)
    types = {type_.attribute_map[name]: of for name, of in type_.openapi_types.items()}
    for name, value in part.items():
        assert name in types, f"{where}: there is no {name} in {kind}"
        check(value, types[name], f"{where}.{name}")

def check_ranks(job, where):
    check(job, "V1JobSpec", where)
    assert job["completionMode"] == "Indexed", where
    assert job["completions"] == job["parallelism"], f"{where}: all ranks run at once"
    for one in job["template"]["spec"]["containers"]:
        env = {e["name"]: e for e in one["env"]}
        assert env["WEFT_SIZE"]["value"] == str(job["completions"]), f"{where}: WEFT_SIZE"
        assert "secretKeyRef" in env["WEFT_JOB_KEY"]["valueFrom"], f"{where}: WEFT_JOB_KEY"

service, job = yaml.safe_load_all(open("indexed-job.yaml"))
check(service, "V1Service", "service")
check(job, "V1Job", "job")
check_ranks(job["spec"], "job.spec")
name = job["metadata"]["name"]
assert job["spec"]["template"]["spec"]["subdomain"] == service["metadata"]["name"]
assert service["spec"]["clusterIP"] == "None" and service["spec"]["publishNotReadyAddresses"]
assert service["spec"]["selector"] == {"job-name": name}

jobset, = yaml.safe_load_all(open("jobset.yaml"))
assert jobset["apiVersion"] == "jobset.x-k8s.io/v1alpha2" and jobset["kind"] == "JobSet"
network = jobset["spec"]["network"]
assert network == {"enableDNSHostnames": True, "publishNotReadyAddresses": True}
for one in jobset["spec"]["replicatedJobs"]:
    assert one["replicas"] == 1, "more would have the same ranks"
    check(one["template"], "V1JobTemplateSpec", one["name"])
    check_ranks(one["template"]["spec"], one["name"])

ranks = yaml.safe_load(open("compose.yaml"))["services"]
for number, (name, one) in enumerate(ranks.items()):
    env = one["environment"]
    assert (env["WEFT_RANK"], env["WEFT_SIZE"]) == (str(number), str(len(ranks))), name
    assert re.fullmatch(r"rank0:\d+", env["WEFT_ROOT"]), name
END

if command -v systemd-analyze >/dev/null; then
  systemd-analyze verify --man=no "$PWD/heat@.service" 2>&1 | grep -v "heat is not executable" | grep "heat@" && exit 1
fi
echo "the files say what weft reads"
