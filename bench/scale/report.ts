import { WRITING_RECOMMENDATIONS } from '../../src/background/tasks/fit-stages.ts';
import type { CourseFigures, StageFigures } from './course.ts';
import type { SizeFigures } from './measure.ts';
import { plotGrowth, type Series } from './plot.ts';

const MB = 2 ** 20;

/** Lines of the first table: the figure, and the same for a unit of work where there is one. */
const LINES: readonly (readonly [
  what: string,
  value: (of: SizeFigures) => number,
  unit?: (of: SizeFigures) => number,
])[] = [
  [
    'import, s; µs a feedback',
    (of) => of.importSeconds,
    ({ importSeconds, size }) => (importSeconds * 1e6) / size.feedback,
  ],
  ['ready after the first start, s', (of) => of.readySeconds],
  ['ready after a restart, s', (of) => of.restartSeconds],
  ['whole fit, s; µs a feedback', fitSeconds, (of) => (fitSeconds(of) * 1e6) / of.size.feedback],
  ['lists; ms of a list', (of) => of.lists, (of) => (listSeconds(of) * 1000) / of.lists],
  [
    'disk, data, MiB; bytes a feedback',
    (of) => of.diskBytes.data / MB,
    (of) => of.diskBytes.data / of.size.feedback,
  ],
  ['disk, cache, MiB; bytes a list', (of) => of.diskBytes.cache / MB, (of) => of.diskBytes.cache / of.lists],
  ['memory at rest, MiB', (of) => of.startMb],
  ['most memory, MiB; bytes a feedback', peakMb, (of) => (peakMb(of) * MB) / of.size.feedback],
  ['requests a second, idle', ({ idle }) => idle?.perSecond ?? Number.NaN],
  ['requests a second, during the fit', ({ fitting }) => fitting.perSecond],
  [
    'p99 of a list, idle, ms; of a user',
    ({ idle }) => idle?.p99Ms ?? Number.NaN,
    ({ idle }) => idle?.userP99Ms ?? Number.NaN,
  ],
  [
    'p99 of a list, during the fit, ms; of a user',
    ({ fitting }) => fitting.p99Ms,
    ({ fitting }) => fitting.userP99Ms,
  ],
  [
    'p99 of a bare handler, idle, ms; during the fit',
    ({ idle }) => idle?.bareP99Ms ?? Number.NaN,
    ({ fitting }) => fitting.bareP99Ms,
  ],
  ['longest answer, during the fit, ms', ({ fitting }) => fitting.longestMs],
  ['stalls above 50 ms, during the fit', ({ fitting }) => fitting.stalls],
];

/** Two tables as Markdown: whole figures, and stage by stage. */
export function tables(figures: readonly SizeFigures[]): string {
  const head = (first: string) =>
    `| ${[first, ...figures.map(({ size }) => number(size.feedback))].join(' | ')} |\n|${'---|'.repeat(figures.length + 1)}\n`;
  const whole = LINES.map(([what, value, unit]) =>
    row(
      what,
      figures.map((of) => number(value(of)) + (unit === undefined ? '' : `; ${number(unit(of))}`)),
    ),
  );
  const names = [...new Set(figures.flatMap(({ stages }) => stages.map(({ stage }) => stage)))];
  const byStage = names.map((name) =>
    row(
      name,
      figures.map(({ stages }) => stageText(stages, name)),
    ),
  );
  return [
    head('Feedback') + whole.join('\n'),
    head('Stage: s, most MiB / MiB worked out before, p99 of a list in ms') + byStage.join('\n'),
  ].join('\n\n');
}

/** Seconds and memory as they grow, as SVG. */
export function growthPlot(figures: readonly SizeFigures[]): string {
  const line = (name: string, value: (of: SizeFigures) => number): Series => ({
    name,
    points: figures.map((of) => [of.size.feedback, value(of)]),
  });
  const names = [...new Set(figures.flatMap(({ stages }) => stages.map(({ stage }) => stage)))];
  const ofStage = (name: string, value: (stage: StageFigures) => number) =>
    line(name, ({ stages }) => {
      const found = stages.find(({ stage }) => stage === name);
      return found === undefined ? 0 : value(found);
    });
  return plotGrowth([
    {
      title: 'Seconds',
      series: [
        line('import', (of) => of.importSeconds),
        line('first start', (of) => of.readySeconds),
        line('restart', (of) => of.restartSeconds),
        ...names.map((name) => ofStage(name, ({ seconds }) => seconds)),
      ],
    },
    {
      title: 'Memory and disk, MiB',
      series: [
        line('at rest', (of) => of.startMb),
        line('disk', (of) => (of.diskBytes.data + of.diskBytes.cache) / MB),
        ...names.map((name) => ofStage(name, ({ peakMb: peak }) => peak)),
      ],
    },
    {
      title: 'Requests: p99 in ms',
      series: [
        line('idle', ({ idle }) => idle?.p99Ms ?? Number.NaN),
        line('during the fit', ({ fitting }) => fitting.p99Ms),
      ],
    },
  ]);
}

function stageText(stages: readonly StageFigures[], name: string): string {
  const found = stages.find(({ stage }) => stage === name);
  if (found === undefined) return '-';
  const planned = Number.isNaN(found.budgetedMb) ? '' : ` / ${number(found.budgetedMb)}`;
  return `${number(found.seconds)}, ${number(found.peakMb)}${planned}, ${number(found.p99Ms)}`;
}

function fitSeconds({ stages }: CourseFigures): number {
  return stages.reduce((sum, { seconds }) => sum + seconds, 0);
}

function listSeconds({ stages }: CourseFigures): number {
  return stages.find(({ stage }) => stage === WRITING_RECOMMENDATIONS)?.seconds ?? Number.NaN;
}

function peakMb({ stages, startMb }: CourseFigures): number {
  return stages.reduce((most, { peakMb: peak }) => Math.max(most, peak), startMb);
}

function row(what: string, cells: readonly string[]): string {
  return `| ${[what, ...cells].join(' | ')} |`;
}

function number(value: number): string {
  if (!Number.isFinite(value)) return '-';
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(3)));
}
