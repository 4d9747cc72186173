# SPDX-License-Identifier: Apache-2.0
"""What the contexts of a stopped process, or of a core file, wait for: commands for gdb.

  gdb -p PID -x weft.py        or   gdb PROGRAM CORE -x weft.py
  (gdb) weft contexts
  (gdb) weft operations        all contexts; or one, by its address
  (gdb) weft chain ADDRESS     who awaits an operation

Nothing of the process runs for it. docs/operating.md, "With gdb".

How it finds things: contexts by the words that src/api/core/core_mark.hpp puts into each; all else
by the types in weft-types.o (tools/gdb/types.cpp), compiled with the library, or by those of the
program, if it was built with `-g`. Chains of coroutines need neither: a frame begins with two
addresses of code, and, of a weft::task, the frame that awaits it follows.
"""
import glob
import os
import re
import struct

import gdb

WORD = b"weft context 01\0"
MARK = struct.Struct("<16sQQIIQ")  # core_mark: the word, lane, size, rank, number, version
HERE = os.path.dirname(os.path.abspath(__file__))
RESERVED = 1 << 63  # tags from this one on are weft's own
ANY_PEER = 0xFFFFFFFF
MOST = 200  # of a kind: lists of a broken process may have no end


class Failure(gdb.GdbError):
    pass


# --- memory ---------------------------------------------------------------------------------------

class Memory:
    """The process's memory, as it is while it stands still."""

    def __init__(self):
        self.inferior = gdb.selected_inferior()
        self.code, self.writable = [], []
        core = False
        for line in gdb.execute("info files", to_string=True).splitlines():
            core = core or line.startswith("Local core dump file")
            m = re.match(r"\s+(0x[0-9a-f]+) - (0x[0-9a-f]+) is (\S+)", line)
            if not m:
                continue
            place = (int(m[1], 16), int(m[2], 16))
            if m[3] == ".text":
                self.code.append(place)
            elif re.match(r"load\d+[a-z]?$", m[3]):
                self.writable.append(place)
        if self.inferior.pid == 0 and not core:
            raise Failure("No process, and no core file: gdb -p PID, or gdb PROGRAM CORE.")
        if not core:
            self.writable = list(self.of_process(self.inferior.pid))

    @staticmethod
    def of_process(pid):
        try:
            lines = open(f"/proc/{pid}/maps").readlines()
        except OSError as e:
            raise Failure(f"The process cannot be read: {e}. It has to be on this machine.")
        for line in lines:
            place, rights, _, _, inode, *_ = line.split(None, 5)
            # Objects are in memory of the process alone; what peers share is large, and has none.
            if rights.startswith("rw") and rights[3] == "p" and inode == "0":
                first, last = place.split("-")
                yield int(first, 16), int(last, 16)

    def read(self, address, size):
        return bytes(self.inferior.read_memory(address, size))

    def word(self, address):
        return int.from_bytes(self.read(address, 8), "little")

    def is_code(self, address):
        return any(first <= address < last for first, last in self.code)

    def find(self, pattern):
        for first, last in self.writable:
            at = first
            while at < last:
                try:
                    found = self.inferior.search_memory(at, last - at, pattern)
                except gdb.error:  # a page that no file has, or that cannot be read
                    break
                if found is None:
                    break
                yield int(found)
                at = int(found) + len(pattern)

    def string(self, address):
        try:
            return gdb.Value(address).cast(gdb.lookup_type("char").pointer()).string()
        except (gdb.error, UnicodeDecodeError):
            return ""


# --- types ----------------------------------------------------------------------------------------

def types_files():
    """Where weft-types.o may be: beside this file, or where the installation has it."""
    prefix = os.path.join(HERE, "..", "..", "..")
    yield os.path.join(HERE, "weft-types.o")
    for folder in ("lib/*/weft/gdb", "lib*/weft/gdb"):
        yield from sorted(glob.glob(os.path.join(prefix, folder, "weft-types.o")))


def load_types():
    """Fails without any."""
    try:
        gdb.lookup_type("weft::gdb::types")
        return
    except gdb.error:
        pass
    for file in types_files():
        if os.path.exists(file):
            # It has next to no code; gdb takes what is at 0 for code that was left out.
            gdb.execute(f"add-symbol-file {file} 0x1000", to_string=True)
            return
    try:
        gdb.lookup_type("weft::detail::core").fields()[0]
    except (gdb.error, IndexError):
        raise Failure("The types of weft are not known. They are in weft-types.o, of the same build as the program's\n"
                      "weft; it belongs beside this script or into LIBDIR/weft/gdb. A weft that was built with -g\n"
                      "(-DCMAKE_CXX_FLAGS=-g) needs none.")


def pointer_to(name, address):
    return gdb.Value(address).cast(gdb.lookup_type(name).pointer())


# --- contexts -------------------------------------------------------------------------------------

class Lane:
    """A lane of a context, as its mark describes it."""

    def __init__(self, memory, at):
        word, self.address, self.size, self.rank, self.number, version = MARK.unpack(
            memory.read(at, MARK.size))
        self.inside = word == WORD and self.address < at < self.address + self.size
        self.version = memory.string(version) if self.inside else ""

    def title(self):
        return f"rank {self.rank}, lane {self.number}, weft {self.version}, at {self.address:#x}"

    def core(self):
        load_types()
        core = pointer_to("weft::detail::core", self.address)
        if core.dereference().type.sizeof != self.size:
            raise Failure("The types are those of another build of weft than the program's: its contexts have "
                          f"{self.size} bytes, and these would have {core.dereference().type.sizeof}.")
        return core.dereference()


def lanes_of(memory):
    found = [lane for lane in (Lane(memory, at) for at in memory.find(WORD)) if lane.inside]
    if not found:
        raise Failure("No context of weft is in this process: it has none (yet, or any more), or its weft is\n"
                      "older than this script.")
    return sorted(found, key=lambda lane: (lane.rank, lane.number))


# --- what waits -----------------------------------------------------------------------------------

def each(first, after):
    """A list that is linked by a member; its first pointer may be null."""
    count = 0
    while int(first) != 0 and count < MOST:
        yield first.dereference()
        first, count = first[after], count + 1


def in_table(table):
    """An id_table."""
    vector = table["entries_"]["_M_impl"]
    for i in range(min(int(vector["_M_finish"] - vector["_M_start"]), 65535)):
        if int(vector["_M_start"][i]) != 0:
            yield vector["_M_start"][i].dereference()


def unique(pointer):
    """What a unique_ptr holds, as a pointer: it is one word."""
    to = pointer.type.strip_typedefs().template_argument(0).pointer()
    return pointer.address.cast(to.pointer()).dereference()


def in_numbers(numbers):
    """A sender_numbers."""
    directory = unique(numbers["pages_"])
    if int(directory) == 0:
        return
    for i in range(256):
        page = unique(directory.dereference()["_M_elems"][i])
        if int(page) == 0:
            continue
        for k in range(256):
            entry = page["at"]["_M_elems"][k]
            if int(entry) != 0:
                yield entry.dereference()


def peers_of(core):
    """Of the registry's unordered_map: a node has the next one, the number, and a shared_ptr."""
    node = int(core["messenger_"]["peers_"]["peers_"]["_M_h"]["_M_before_begin"]["_M_nxt"])
    memory, found = Memory(), []
    while node != 0 and len(found) < 65536:
        found.append(pointer_to("weft::proto::peer", memory.word(node + 16)).dereference())
        node = memory.word(node)
    return sorted(found, key=lambda p: int(p["connection_"]["id_"]))


def peer(number):
    return "any rank" if number == ANY_PEER else f"rank {number}" if number < 1 << 31 else f"peer {number:#x}"


def tag(value, mask=0xFFFFFFFFFFFFFFFF):
    if value >= RESERVED:
        return f"a tag of weft's own, {value:#x}"
    return f"tag {value}" if mask == 0xFFFFFFFFFFFFFFFF else "any tag" if mask == 0 else f"tags {value:#x}/{mask:#x}"


class Found:
    """An operation that waits. Behind the bytes of its type is the coroutine to resume."""

    def __init__(self, value, text, size=None):
        self.address = int(value.address)
        self.size = value.type.sizeof if size is None else size
        self.ends = int(value["complete_"])
        self.text = text


def receives(core):
    table = core["messenger_"]["table_"]
    homes = [table["wild_"]] + [table["exact_"]["_M_elems"][i] for i in range(1024)]
    posted = [op for home in homes for op in each(home["first"], "after")]
    for op in sorted(posted, key=lambda o: int(o["posted_at"])):
        probe = int(op["special"]) & 1
        source = int(op["from_id"]) if int(op["from"]) != 0 else ANY_PEER
        yield Found(op, f"{'probe' if probe else 'receive'} from {peer(source)}, "
                    f"{tag(int(op['tag']['value']), int(op['tag']['mask']))}: no message has come",
                    gdb.lookup_type(f"weft::{'probe' if probe else 'recv'}_operation").sizeof)


def send(op, state):
    request = op["request"]
    return Found(op, f"send to {peer(int(request['to']['id']))}, {tag(int(request['tag']['value']))}: {state}")


def sends(p):
    sender = p["sender_"]
    first = int(sender["order_"]["holder_"])
    if first != 0:
        op = sender["order_"]["holder_"].dereference()
        yield send(op, f"{int(op['sent'])} of its bytes have left, waits for credit or for room in the link")
    for m in in_table(sender["rendezvous_"]["messages_"]):
        if int(m["op"]) != first:
            sent = int(m["op"]["sent"])
            answer = ", waits for the receiver's answer" if int(m["answer"]) == 0 else ""
            yield send(m["op"].dereference(), f"{sent} of {int(m['op']['size'])} bytes have left{answer}")
    for line in ("answers_", "waiting_"):
        for w in each(sender["order_"][line]["first_"], "next"):
            op = w.cast(gdb.lookup_type("weft::proto::send_order::acquirer"))["op"]
            if int(op) != 0:
                yield send(op.dereference(), "waits for messages before it, or for the connection")


def arriving(p):
    receiver = p["receiver_"]
    messages = list(in_numbers(receiver["numbered_"]))
    current = receiver["current_"]
    if int(current) != 0 and int(current["sender_id"]) == 0:
        messages.insert(0, current.dereference())
    for m in messages:
        if int(m["receive"]) != 0:
            yield Found(m["receive"].dereference(), f"receive from {peer(int(p['connection_']['id_']))}, "
                        f"{tag(int(m['tag']))}: {int(m['arrived'])} of {int(m['total'])} bytes have come")


def requests(p):
    parts = unique(p["rma_"])
    if int(parts) != 0:
        initiator = parts["initiator"]
        for op in in_table(initiator["asked_"]):
            if int(op.address) != int(initiator["stopped_"].address):
                yield Found(op, f"{op['order']['kind']} at {peer(int(op['order']['to']['id']))}: waits for the "
                            "target's answer")
    calls = unique(p["calls"])
    if int(calls) != 0:
        for op in in_table(calls["made"]):
            if int(op.address) != int(calls["abandoned"].address):
                yield Found(op, f"call of handler {int(op['number_']['number'])} at {peer(int(op['to_']['id']))}: "
                            "no reply has come")


def unexpected(p):
    for m in each(p["unexpected"]["ordinary"]["first"], "of_peer_after"):
        yield f"message from {peer(int(p['connection_']['id_']))}, {tag(int(m['tag']))}, {int(m['total'])} bytes: " \
              "no receive has met it"


# --- coroutines -----------------------------------------------------------------------------------

def symbol(address):
    """The name of a coroutine by the address of one of its parts."""
    text = gdb.execute(f"info symbol {address:#x}", to_string=True)
    if text.startswith("No symbol"):
        return f"code at {address:#x}, of a program without symbols"
    name = re.sub(r"( \+ \d+)? in section .*", "", text.strip(), flags=re.S)
    # Compilers name the part that resumes after the coroutine, with its frame as the parameter.
    name = re.sub(r"( \[clone [^]]*\]|\.(actor|resume|isra\.\d+|part\.\d+))+$", "", name)
    depth = 0
    for at in range(len(name) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(name[at], 0)
        if depth == 0:
            return name[:at] if name.endswith(")") else name
    return name


def place(address):
    line = gdb.find_pc_line(address)
    return f", {os.path.basename(line.symtab.filename)}:{line.line}" if line.symtab and line.line else ""


class Chains:
    """A frame is two addresses of code, what resumes it and what destroys it, and then the promise:
    that of a weft::task begins with the frame that awaits it, that of the root with its owner."""

    def __init__(self, memory):
        self.memory = memory
        try:
            self.scope = int(gdb.parse_and_eval("(unsigned long)&_ZTVN4weft5scopeE")) + 16
        except gdb.error:
            self.scope = None  # a stripped program: chains end where a scope started them

    def word(self, address):
        """0 where no memory is."""
        try:
            return self.memory.word(address)
        except gdb.MemoryError:
            return 0

    def is_frame(self, address):
        if address == 0 or address % 8 != 0:
            return False
        resume, destroy = self.word(address), self.word(address + 8)
        # The noop coroutine has one function for both.
        return resume != destroy and self.memory.is_code(resume) and self.memory.is_code(destroy)

    def is_scope(self, address):
        return address != 0 and address % 8 == 0 and self.scope is not None and self.word(address) == self.scope

    def awaiting(self, address, size):
        """The coroutine that awaits an operation, or the scope: it is kept behind it. 0: neither."""
        for at in range(address + size - 8, address + size + 504, 8):
            word = self.word(at)
            if self.is_frame(word) or self.is_scope(word):
                return word
        return 0

    def lines(self, at):
        seen = set()
        while at not in seen:
            seen.add(at)
            if self.is_frame(at):
                resume = self.word(at)
                name = symbol(resume)
                if name != "weft::detail::start_detached":  # the root of every chain
                    yield f"{name}{place(resume)}  [frame {at:#x}]"
                at = self.word(at + 16)
            elif self.is_scope(at):
                yield f"a scope  [at {at:#x}]"
                load_types()
                joiner = pointer_to("weft::scope", at)["joiner_"]["whom_"]
                at = self.word(int(joiner.address))
            else:
                yield from self.owner(at)
                return

    def owner(self, address):
        """Of a root: an object with virtual functions, of run, spawn and so on."""
        table = self.word(address) if address % 8 == 0 else 0
        if table == 0:
            return
        text = gdb.execute(f"info symbol {table:#x}", to_string=True)
        m = re.match(r"vtable for (.*?)( \+ \d+)? in section", text, re.S)
        if m:
            yield f"started by {m[1]}"


def print_chain(chains, address, size, indent, ends=None):
    """With the function that is called at the operation's end, if it is known."""
    lines = list(chains.lines(chains.awaiting(address, size)))
    for n, line in enumerate(lines):
        print(f"{indent}{'awaited by' if n == 0 else '       ...'} {line}")
    if not lines:
        print(f"{indent}awaited by no coroutine" + (f"; its end calls {symbol(ends)}" if ends else ""))


# --- commands -------------------------------------------------------------------------------------

class Weft(gdb.Command):
    """What the contexts of weft in this process wait for."""

    def __init__(self):
        super().__init__("weft", gdb.COMMAND_STATUS, prefix=True)


class Contexts(gdb.Command):
    """weft contexts: the lanes of all contexts, with their numbers of pending operations."""

    def __init__(self):
        super().__init__("weft contexts", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        for lane in lanes_of(Memory()):
            try:
                core = lane.core()
                print(f"{lane.title()}: pending operations: {pending(core)}")
                for p in peers_of(core):
                    state = str(p["connection_"]["state_"]).rsplit("::", 1)[-1]
                    if state != "idle":
                        print(f"  {peer(int(p['connection_']['id_']))}: {state}")
            except (Failure, gdb.error) as e:
                print(f"{lane.title()}\n  {e}")


def pending(core):
    return int(core["engine_"]["core_"]["completions"]["pending_"])


class Operations(gdb.Command):
    """weft operations [ADDRESS]: what waits, and the coroutines that await it, of all lanes or one."""

    def __init__(self):
        super().__init__("weft operations", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        memory = Memory()
        chosen = int(gdb.parse_and_eval(argument)) if argument else None
        lanes = [lane for lane in lanes_of(memory) if chosen in (None, lane.address)]
        if not lanes:
            raise Failure(f"No lane is at {argument}: `weft contexts` shows where they are.")
        for lane in lanes:
            self.show(lane, Chains(memory))

    @staticmethod
    def show(lane, chains):
        core = lane.core()
        print(lane.title())
        peers = peers_of(core)
        found = list(receives(core))
        for p in peers:
            found += [*arriving(p), *sends(p), *requests(p)]
        for op in found:
            print(f"  {op.text}  [operation {op.address:#x}]")
            print_chain(chains, op.address, op.size, "    ", op.ends)
        others = pending(core) - len(found)
        if others > 0:
            print(f"  others (timers, descriptors, files, handlers, streams, regions): {others}")
        for p in peers:
            for text in unexpected(p):
                print(f"  {text}")


class Chain(gdb.Command):
    """weft chain ADDRESS: who awaits an operation, or a coroutine by the address of its frame."""

    def __init__(self):
        super().__init__("weft chain", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        if not argument:
            raise Failure("weft chain ADDRESS: of an operation, or of a coroutine's frame")
        chains, address = Chains(Memory()), int(gdb.parse_and_eval(argument))
        if chains.is_frame(address) or chains.is_scope(address):
            for line in chains.lines(address):
                print(line)
        else:
            print_chain(chains, address, 24, "")


Weft()
Contexts()
Operations()
Chain()
