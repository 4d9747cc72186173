// SPDX-License-Identifier: Apache-2.0
#include "html/html.hpp"
#include "plot/chart.hpp"

namespace weft::bench::page {

std::string style_of_page() {
  return R"(
:root{color-scheme:light dark;--ink:#1c2430;--soft:#566070;--page:#fbfbfa;--card:#fff;--edge:#dfe3e8;
--link:#005a94;--good:#00694c;--good-ground:#e2f4ec;--bad:#a63c00;--bad-ground:#fdeadd;
--none:#566070;--none-ground:#eceef1}
@media(prefers-color-scheme:dark){:root{--ink:#e6e9ee;--soft:#a3acb8;--page:#0e1116;--card:#14181e;
--edge:#2b323c;--link:#7cc0f5;--good:#5fd6a9;--good-ground:#11332a;--bad:#ffa06a;--bad-ground:#3d2213;
--none:#a3acb8;--none-ground:#252b34}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;scroll-behavior:smooth}
@media(prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
body{margin:0 auto;padding:1rem 1rem 4rem;max-width:46rem;background:var(--page);color:var(--ink);
font:16px/1.55 system-ui,-apple-system,'Segoe UI','Liberation Sans',sans-serif;overflow-wrap:break-word}
h1{font-size:1.75rem;line-height:1.2;margin:1.2rem 0 .4rem;letter-spacing:-.01em}
h2{font-size:1.35rem;line-height:1.3;margin:3.2rem 0 .3rem;padding-top:1rem;border-top:2px solid var(--edge)}
h3{font-size:1.1rem;line-height:1.35;margin:0 0 .4rem}
p{margin:.4rem 0 .8rem}
a{color:var(--link);text-decoration-thickness:1px;text-underline-offset:2px}
.soft{color:var(--soft)}
.small{font-size:.875rem}
.label{color:var(--soft);font-weight:600}
.score{display:flex;flex-wrap:wrap;align-items:baseline;gap:.2rem .8rem;margin:1rem 0;padding:.9rem 1rem;
background:var(--card);border:1px solid var(--edge);border-radius:10px}
.score b{font-size:1.35rem;line-height:1.3}
dl.facts{display:grid;grid-template-columns:max-content 1fr;gap:.1rem .9rem;margin:.6rem 0;font-size:.875rem}
dl.facts dt{color:var(--soft)}
dl.facts dd{margin:0;min-width:0}
nav ol{list-style:none;margin:.2rem 0 1rem;padding:0}
nav li{display:flex;gap:.6rem;align-items:baseline;justify-content:space-between;padding:.28rem 0;
border-bottom:1px solid var(--edge)}
nav li a,nav h3 a{min-width:0;text-decoration:none}
nav a:hover,nav a:focus{text-decoration:underline}
nav h3{margin:1.2rem 0 .1rem;font-size:1rem}
.badge{flex:none;display:inline-block;padding:.05rem .5rem;border-radius:1rem;font-size:.8125rem;
font-weight:600;white-space:nowrap}
.good{color:var(--good);background:var(--good-ground)}
.bad{color:var(--bad);background:var(--bad-ground)}
.none{color:var(--none);background:var(--none-ground)}
article{margin:1.4rem 0;padding:1rem;background:var(--card);border:1px solid var(--edge);border-radius:10px;
scroll-margin-top:.5rem}
figure{margin:.8rem 0}
figcaption{margin-top:.4rem;color:var(--soft);font-size:.875rem}
article .chart{max-width:33rem;margin:0 auto;--paper:var(--card)}
ul.claims{list-style:none;margin:.8rem 0;padding:0}
ul.claims li{padding:.5rem 0;border-top:1px solid var(--edge)}
ul.claims .badge{margin-right:.4rem}
.figures{display:block;color:var(--soft);font-size:.875rem}
details{margin:.5rem 0;font-size:.9375rem}
summary{cursor:pointer;color:var(--link);padding:.2rem 0}
.scroll{overflow-x:auto;background:linear-gradient(to left,var(--card) 30%,transparent) right/2.5rem 100%
no-repeat local,linear-gradient(to left,var(--edge),transparent) right/.9rem 100% no-repeat scroll}
.option{white-space:nowrap}
table{border-collapse:collapse;font-size:.875rem;font-variant-numeric:tabular-nums;margin:.3rem 0}
th,td{padding:.25rem .6rem;text-align:right;border-bottom:1px solid var(--edge);vertical-align:baseline}
th{font-weight:600;vertical-align:bottom}
thead th{min-width:5.5rem}
th:first-child{text-align:left;position:sticky;left:0;background:var(--card);max-width:11rem}
td .soft{display:block;font-size:.75rem;white-space:nowrap}
pre{margin:.3rem 0;padding:.6rem .7rem;background:var(--page);border:1px solid var(--edge);border-radius:6px;
font:.8125rem/1.5 ui-monospace,'Liberation Mono',Menlo,monospace;white-space:pre-wrap;overflow-wrap:anywhere}
.problem{margin:.6rem 0;padding:.5rem .7rem;border-left:3px solid var(--bad);background:var(--bad-ground);
border-radius:0 6px 6px 0;font-size:.875rem}
.problem pre{background:transparent;border:0;padding:.2rem 0}
ul.plain{padding-left:1.1rem;margin:.4rem 0}
@media(max-width:30rem){article{margin-left:-.6rem;margin-right:-.6rem;padding:.8rem .6rem}h1{font-size:1.45rem}}
@page{margin:14mm}
@media print{body{max-width:none;padding:0;font-size:10pt;line-height:1.4;background:none}h1{margin-top:0}
nav{columns:2;column-gap:8mm;font-size:8pt;line-height:1.3}nav>p{column-span:all}nav h3{break-after:avoid;margin-top:.5rem}
nav li{break-inside:avoid;padding:.1rem 0}section{break-before:page}h2{margin-top:0;border-top:0;padding-top:0}
article{break-before:page;break-inside:avoid;border:0;padding:0;margin:0}
section>article:first-of-type{break-before:auto;break-inside:auto;margin-top:.6rem}figure{break-inside:avoid}
ul.claims li{break-inside:avoid}ul.claims{margin:.4rem 0}.figures{line-height:1.3}
section>article:first-of-type .chart{max-height:80mm}
article .chart{max-width:none;max-height:100mm}ul.claims li{padding:.15rem 0}article details{display:none}
header li{margin:0}header details::details-content{content-visibility:visible;block-size:auto}header summary{display:none}
td,th{padding:.15rem .5rem}section>h3{break-after:avoid}}
)" + plot::style_sheet() +
         "\n";
}

}  // namespace weft::bench::page
