// SPDX-License-Identifier: Apache-2.0
// In the page, for tests/bench/report.sh: counts pictures and series, and looks for faults of the layout.
addEventListener("load", () => {
  const faults = [];
  const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
  if (document.documentElement.scrollWidth > innerWidth)
    faults.push(`the page is ${document.documentElement.scrollWidth} wide in a window of ${innerWidth}`);
  const charts = [...document.querySelectorAll("svg.chart")];
  let promised = 0;
  for (const chart of charts) {
    promised += Number(chart.dataset.series);
    const whole = chart.getBoundingClientRect();
    const texts = [...chart.querySelectorAll("text")].map((e) => [e.textContent, e.getBoundingClientRect()]);
    texts.forEach(([text, box], i) => {
      if (box.left < whole.left - 1 || box.right > whole.right + 1 || box.bottom > whole.bottom + 1)
        faults.push(`${chart.id}: '${text}' leaves the picture`);
      if (box.height < 10) faults.push(`${chart.id}: '${text}' is too small`);
      for (const [other, its] of texts.slice(i + 1))
        if (meet(box, its)) faults.push(`${chart.id}: '${text}' covers '${other}'`);
    });
  }
  const drawn = document.querySelectorAll("svg.chart g.series[data-name]").length;
  parent.postMessage(`charts ${charts.length}, series ${drawn} of ${promised}, faults: ${faults.join("; ")}`, "*");
});
