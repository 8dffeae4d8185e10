import { init } from 'echarts';

/** One line of a plot: what it is called, and its points. */
export interface Series {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

const WIDTH = 420;
const HEIGHT = 300;
const FONT = 'sans-serif';

/** Plots figures over the feedback, side by side, both axes logarithmic. @returns an SVG document */
export function plotGrowth(
  charts: readonly { readonly title: string; readonly series: readonly Series[] }[],
): string {
  const chart = init(null, null, {
    renderer: 'svg',
    ssr: true,
    width: WIDTH * charts.length,
    height: HEIGHT,
  });
  const share = 100 / charts.length;
  chart.setOption({
    animation: false,
    backgroundColor: '#fff',
    textStyle: { fontFamily: FONT },
    title: charts.map(({ title }, at) => ({
      text: title,
      left: `${at * share + 1}%`,
      top: 4,
      textStyle: { fontSize: 13 },
    })),
    legend: charts.map(({ series }, at) => ({
      data: series.map(({ name }) => name),
      left: `${at * share + 1}%`,
      top: 26,
      width: WIDTH - 30,
      itemWidth: 12,
      itemHeight: 6,
      textStyle: { fontSize: 10 },
    })),
    grid: charts.map((_, at) => ({
      left: `${at * share + 0.14 * share}%`,
      width: `${0.8 * share}%`,
      top: 96,
      bottom: 34,
    })),
    xAxis: charts.map((_, gridIndex) => ({
      type: 'log',
      gridIndex,
      name: 'feedback',
      nameLocation: 'middle',
      nameGap: 20,
    })),
    yAxis: charts.map((_, gridIndex) => ({ type: 'log', gridIndex })),
    series: charts.flatMap(({ series }, at) =>
      series.map(({ name, points }) => ({
        type: 'line',
        name,
        xAxisIndex: at,
        yAxisIndex: at,
        symbolSize: 6,
        data: points.filter(([, y]) => y > 0).map(([x, y]) => [x, y]),
      })),
    ),
  });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return svg;
}
