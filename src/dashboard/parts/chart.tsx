import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { bytes, count } from '../format.ts';

export interface ChartLine {
  readonly label: string;
  readonly values: readonly (number | null)[];
  /** One of the colors of the style sheet: 1 to 4. */
  readonly color: 1 | 2 | 3 | 4;
}

export interface ChartProps {
  readonly title: string;
  /** Seconds since the epoch. */
  readonly times: readonly number[];
  readonly lines: readonly ChartLine[];
  readonly format: (value: number) => string;
  readonly height?: number;
  /** Draws over times without a value, where those mean that nothing was to be measured. */
  readonly bridges?: boolean;
  /** Explains what is measured. */
  readonly note?: string;
}

/** Curves over time. What a screen reader is told is their last and largest values. */
export function Chart(props: ChartProps) {
  const { title, times, lines, format, height = 160, note } = props;
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const data = [times, ...lines.map(({ values }) => values)] as unknown as uPlot.AlignedData;
  const shape = lines.map(({ label, color }) => `${label} ${color}`).join();
  const latest = useRef(data);
  latest.current = data;

  // The lines are told apart by `shape`.
  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    const draw = () => {
      plot.current?.destroy();
      const width = Math.max(120, element.clientWidth);
      plot.current = new uPlot(options({ ...props, height }, width), latest.current, element);
    };
    draw();
    const sizes = new ResizeObserver(() =>
      plot.current?.setSize({ width: Math.max(120, element.clientWidth), height }),
    );
    sizes.observe(element);
    const theme = matchMedia('(prefers-color-scheme: dark)');
    theme.addEventListener('change', draw);
    return () => {
      sizes.disconnect();
      theme.removeEventListener('change', draw);
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [shape, height]);

  useEffect(() => plot.current?.setData(latest.current));

  const points = lines.reduce((sum, { values }) => sum + values.filter((value) => value !== null).length, 0);
  return (
    <figure class="chart" data-points={points}>
      <figcaption>
        <strong>{title}</strong>
        {note !== undefined && <small>{note}</small>}
        <span class="legend">
          {lines.map((line) => (
            <span key={line.label} class={`key color-${line.color}`}>
              {line.label} <b>{lastOf(line.values, format)}</b>
            </span>
          ))}
        </span>
      </figcaption>
      <div class="plot">
        <div ref={host} role="img" aria-label={describe(title, lines, format)} />
        {points === 0 && <p class="muted">Nothing yet</p>}
      </div>
    </figure>
  );
}

function lastOf(values: readonly (number | null)[], format: (value: number) => string): string {
  const last = values.findLast((value) => value !== null);
  return last === undefined || last === null ? '–' : format(last);
}

function describe(title: string, lines: readonly ChartLine[], format: (value: number) => string): string {
  const parts = lines.map(({ label, values }) => {
    const known = values.filter((value) => value !== null);
    if (known.length === 0) return `${label}: no data`;
    return `${label}: last ${format(known.at(-1)!)}, largest ${format(Math.max(...known))}`;
  });
  return `${title}. ${parts.join('; ')}`;
}

/** Steps of an axis that counts: powers of two for bytes, whole numbers for what comes one by one. */
const STEPS = new Map<ChartProps['format'], number[]>([
  [bytes, Array.from({ length: 45 }, (_, power) => 2 ** power)],
  [count, Array.from({ length: 39 }, (_, at) => [1, 2, 5][at % 3]! * 10 ** Math.floor(at / 3))],
]);

function options(
  { lines, format, bridges = false, height }: ChartProps & { readonly height: number },
  width: number,
): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: color('--pico-muted-color'),
    grid: { stroke: color('--furze-grid'), width: 1 },
    ticks: { show: false },
    font: '11px system-ui, sans-serif',
  };
  return {
    width,
    height,
    legend: { show: false },
    // A long name of a month at the end has room.
    padding: [null, 32, null, null],
    cursor: { y: false, points: { size: 6 } },
    scales: { y: { range: (_plot, _least, most) => [0, most > 0 ? most * 1.08 : 1] } },
    axes: [
      { ...axis, size: 28, space: 48, values: (_plot, values) => timeLabels(values) },
      {
        ...axis,
        size: 62,
        space: 34,
        ...(STEPS.has(format) && { incrs: STEPS.get(format)! }),
        values: (_plot, values) => values.map(format),
      },
    ],
    series: [
      {},
      ...lines.map(
        (line): uPlot.Series => ({
          label: line.label,
          stroke: color(`--furze-line-${line.color}`),
          width: 2,
          points: {
            show: true,
            size: 4,
            filter: (plot, at) => alone(plot.data[at] ?? [], line.values.length < 30),
          },
          spanGaps: bridges,
        }),
      ),
    ],
  };
}

/** The points to be drawn as such: all where they are few, else those that no line reaches. */
function alone(values: ArrayLike<number | null | undefined>, all: boolean): number[] {
  const missing = (at: number) => values[at] === null || values[at] === undefined;
  return Array.from({ length: values.length }, (_, at) => at).filter(
    (at) => !missing(at) && (all || (missing(at - 1) && missing(at + 1))),
  );
}

const DAY_S = 86_400;

/** Times of day, or dates where they are days apart. */
function timeLabels(times: readonly number[]): string[] {
  const step = (times[1] ?? 0) - (times[0] ?? 0);
  const form: Intl.DateTimeFormatOptions =
    step >= 28 * DAY_S
      ? { month: 'short', year: 'numeric' }
      : step >= DAY_S
        ? { day: 'numeric', month: 'short' }
        : { hour: '2-digit', minute: '2-digit', hour12: false };
  return times.map((time) => new Date(time * 1000).toLocaleString('en-GB', form));
}
