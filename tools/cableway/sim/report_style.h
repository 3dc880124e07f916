// The style sheet of a report's page, for light and dark themes, screen and print.
#ifndef CABLEWAY_TOOLS_CABLEWAY_SIM_REPORT_STYLE_H_
#define CABLEWAY_TOOLS_CABLEWAY_SIM_REPORT_STYLE_H_

namespace cableway::cli {

// Blue for cables with spare capacity, orange and red for those without: distinguishable with colour blindness, and in
// the drawing by width as well.
inline constexpr char kReportStyle[] = R"css(
:root{color-scheme:light dark;
 --page:#f5f6f8;--card:#ffffff;--ink:#1b222c;--soft:#5b6675;--line:#dde2e9;--node:#ffffff;--edge:#44546a;--accent:#1f5f99;
 --h0:#c3cad4;--h1:#9ecae1;--h2:#4f97c7;--h3:#1f5f99;--h4:#eb9a1e;--h5:#c43c1a;--gone:#8b1a6b;--on-cell:#14202c;
 --wire:#e3e8ee;--switch:#dde1e6}
@media (prefers-color-scheme:dark){:root{
 --page:#12161c;--card:#1a2029;--ink:#e8ecf1;--soft:#9aa6b5;--line:#2d3642;--node:#232c38;--edge:#8fa1b8;--accent:#74b9ee;
 --h0:#414c5a;--h1:#33597b;--h2:#3f86bd;--h3:#86c3f0;--h4:#f2a73b;--h5:#ff6b45;--gone:#e58ad0;--on-cell:#f4f7fa;
 --wire:#2b3541;--switch:#39434f}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,"Segoe UI","DejaVu Sans",sans-serif}
main{max-width:1120px;margin:0 auto;padding:28px 24px 48px}
h1{font-size:25px;line-height:1.25;margin:0 0 2px;overflow-wrap:anywhere}
h2{font-size:17px;margin:0 0 12px}
p{margin:4px 0}
.soft{color:var(--soft)}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(190px,1fr));gap:14px;margin:22px 0}
.card,section{background:var(--card);border:1px solid var(--line);border-radius:12px}
.card{padding:14px 16px}
.card .what{color:var(--soft);font-size:13px}
.card .figure{font-size:25px;font-weight:650;font-variant-numeric:tabular-nums;line-height:1.3}
.card .more{color:var(--soft);font-size:13px;overflow-wrap:anywhere}
.meter{height:7px;border-radius:4px;background:var(--line);margin:5px 0 6px;overflow:hidden}
.meter span{display:block;height:100%;background:var(--accent)}
section{padding:20px 22px;margin:18px 0}
.wide{overflow-x:auto}
.alarm{border-left:6px solid var(--gone)}
.alarm ul{margin:8px 0;padding-left:20px}
svg{display:block;margin:0 auto;max-width:100%;height:auto}
svg text{font:13px system-ui,"Segoe UI","DejaVu Sans",sans-serif;fill:var(--ink);text-anchor:middle}
.map{overflow:visible}
.map .wire{fill:none;stroke:var(--wire)}
.map .lane{fill:none;stroke:currentColor;stroke-linecap:round}
.map .arrow{fill:currentColor}
.map .node{fill:var(--node);stroke:var(--edge);stroke-width:1.6}
.map .switch{fill:var(--switch)}
.map .bare{stroke-dasharray:5 4}
.map .name{font-weight:600}
.map .note{font-size:10.5px;fill:var(--soft)}
.map .value{font-size:12px;paint-order:stroke;stroke:var(--card);stroke-width:5px;stroke-linejoin:round}
.map .cut .lane{stroke-dasharray:7 6}
.map .gone{font-weight:700;fill:var(--gone)}
.h0{color:var(--h0)}.h1{color:var(--h1)}.h2{color:var(--h2)}.h3{color:var(--h3)}.h4{color:var(--h4)}.h5{color:var(--h5)}
.legend{display:flex;flex-wrap:wrap;gap:6px 18px;justify-content:center;margin:14px 0 0;padding:0;list-style:none;font-size:13px}
.legend li{display:flex;align-items:center;gap:7px}
.legend span.key{display:inline-block;width:26px;background:currentColor;border-radius:3px}
.legend .label{color:var(--ink)}
.legend span.wire-key{background:var(--wire)}
.timeline .grid{stroke:var(--line);stroke-width:1}
.timeline .full{fill:var(--line);opacity:.42}
.timeline .area{fill:currentColor;fill-opacity:.38;stroke:currentColor;stroke-width:1.4;stroke-linejoin:round}
.timeline text.tick{font-size:12px;fill:var(--soft)}
.timeline text.row{text-anchor:end;font-size:12.5px;white-space:pre}
.timeline text.mean{text-anchor:end;font-size:12.5px;font-variant-numeric:tabular-nums}
.timeline .moment{stroke:var(--gone);stroke-width:2;stroke-dasharray:5 4;fill:none}
.timeline .pause{fill:var(--gone);opacity:.18}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th{font-size:13px;font-weight:600;color:var(--soft);text-align:left;white-space:nowrap}
th,td{padding:6px 10px;border-bottom:1px solid var(--line)}
tbody tr:last-child td{border-bottom:0}
td.n,th.n{text-align:right;white-space:nowrap}
.bar{display:inline-block;vertical-align:middle;width:86px;height:9px;border-radius:5px;background:var(--line);margin-right:8px;
 overflow:hidden}
.bar span{display:block;height:100%;background:currentColor}
.share{display:inline-block;min-width:58px;text-align:right}
pre{margin:0;padding:12px 14px;background:var(--page);border:1px solid var(--line);border-radius:8px;white-space:pre-wrap;
 overflow-wrap:anywhere;font:13px/1.5 ui-monospace,"DejaVu Sans Mono",monospace}
dl{display:grid;grid-template-columns:max-content 1fr;gap:4px 18px;margin:14px 0 0}
dt{color:var(--soft)}
dd{margin:0;overflow-wrap:anywhere}
@media print{body{background:#fff}section,.card{break-inside:avoid}}
)css";

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_SIM_REPORT_STYLE_H_
