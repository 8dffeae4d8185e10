import { basename } from 'node:path';
import { counted, groupDigits } from '../../domain/group-digits.ts';
import { readPositiveKinds } from '../../domain/positive-feedback-types.ts';
import { BusyUsers } from '../../exchange/busy-users.ts';
import { describePlan } from '../../exchange/describe-plan.ts';
import { type FileResult, type ImportOptions, importFile } from '../../exchange/import-file.ts';
import {
  type FilePlan,
  HEAD_CHARACTERS,
  itemsWithin,
  planFile,
  type Wishes,
} from '../../exchange/import-plan.ts';
import type { ImportReports } from '../../exchange/import-reports.ts';
import type { BeginBulk, Target } from '../../exchange/import-targets.ts';
import type { Preset, PresetFile } from '../../exchange/known-data-sets.ts';
import type { MadeRow } from '../../exchange/made-rows.ts';
import { refuseItemFields } from '../../exchange/map-columns.ts';
import { encodingOf, isStream, type OpenedText, openText, peekText } from '../../exchange/open-text-file.ts';
import type { RefusedRow } from '../../exchange/refused-rows.ts';
import { importResumePoint } from '../../exchange/resume-point.ts';
import { guestState } from '../../exchange/rows-to-records.ts';
import { INTERRUPTED } from '../common/exit-status.ts';
import { createProgress, type Progress } from '../common/progress.ts';
import { describeLeftOut } from '../common/set-up-summary.ts';
import { BulkFiles } from './bulk-files.ts';
import { findInputs } from './find-input-files.ts';

/** One run of the command over its files. */
export interface ImportRun {
  readonly paths: readonly string[];
  readonly preset: Preset;
  readonly wishes: Wishes;
  /** The files with what is said of each, in place of `paths` and `wishes` for all. */
  readonly inputs?: readonly PresetFile[];
  /** Absent for a run that checks only. */
  readonly target: Target | undefined;
  /** Absent where feedback is stored batch by batch. */
  readonly bulk?: BeginBulk | undefined;
  /** Where it is kept how far the import has come; undefined where there is no place for it, and for a check. */
  readonly folder: string | undefined;
  readonly skipsBad: boolean;
  readonly json: boolean;
  /** Says nothing on standard output. */
  readonly isQuiet?: boolean;
  /** The columns and what is refused have been shown before, and the caller says how to go on after an interruption. */
  readonly isShown?: boolean;
  /** Positive types of the configuration; undefined where a running service has its own. */
  readonly positiveTypes: readonly string[] | undefined;
  readonly repeats: Repeats;
  /** Types of which every event counts. */
  readonly repeatedTypes?: readonly string[];
  /** From which rating on the service was set up to take likings; undefined where that is not known. */
  readonly ratingMinBefore?: number | undefined;
}

/** `ofEvents`: the files with feedback of which every event may count. */
type ReportedRun = ImportRun & { readonly ofEvents: ReadonlySet<string> };

/** Which of the rows of one user, item and type counts; the sum of their values where nothing was there before. */
export type Repeats = 'first' | 'last' | 'sum';

/** Refused rows that are listed one by one. */
const REFUSALS_SHOWN = 20;
/** The exit code when a row was refused. */
export const REFUSED = 1;
/** Longest time for the batches under way after an interruption, milliseconds. */
const STOP_MS = 5000;

/**
 * Imports file by file; an interruption ends it after the batch under way.
 * @returns the exit code: 0, 1 when a row was refused, 130 when it was interrupted
 */
export async function runImport(run: ImportRun): Promise<number> {
  const inputs = run.inputs ?? (await findInputs(run.preset, run.paths, run.wishes));
  const progress = createProgress(process.stderr);
  const { signal, end } = listenForInterruption(progress);
  const refusals: RefusedRow[] = [];
  let results: FileResult[] = [];
  let atOnce: Target | undefined;
  let [refused, begun] = [0, 0];
  const ofEvents = new Set<string>();
  const onRefused = (row: RefusedRow) => {
    refused++;
    if (refusals.length < REFUSALS_SHOWN) refusals.push(row);
    if (refused <= REFUSALS_SHOWN && !run.isShown) progress.say(`${row.path}:${row.line}: ${row.reason}`);
  };
  const bulk = new BulkFiles(run.bulk, progress, inputs);
  try {
    let leavesItems = await itemsAreLeft(run);
    read: for (const input of inputs) {
      const looked = await lookAt(input, signal).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
      if (looked === undefined || signal.aborted) break;
      begun++;
      leavesItems ||= looked.plan.kind === 'items';
      for (const plan of leavesItems ? [looked.plan] : withItemsWithin(looked)) {
        checkPlan(progress, plan, run);
        if (mayCountEvents(plan, run)) ofEvents.add(plan.path);
        const { onRow, warn } = watchGuests(progress, plan, run);
        const file = { plan, opened: looked.opened, onRefused, onRow, signal };
        const result =
          (await bulk.importFile({ ...file, skipsBad: run.skipsBad })) ??
          (await importOne(run, bulk.target, file, progress));
        results.push(result);
        warn();
        const isRefused = result.refused > 0 && !run.skipsBad && run.target !== undefined;
        if (result.isStopped || isRefused) break read;
      }
    }
    atOnce = bulk.target;
    results = await bulk.finish(results, signal);
  } catch (error) {
    // The files before were whole.
    await bulk.finish(results, signal);
    throw error;
  } finally {
    if (signal.aborted) progress.stop();
    progress.end();
    await bulk.discard();
    end();
  }
  if (refused > REFUSALS_SHOWN && !run.isShown)
    process.stderr.write(`... and ${groupDigits(refused - REFUSALS_SHOWN)} more\n`);
  // What comes when all is stored interrupts nothing.
  const interrupted = signal.aborted && (begun < inputs.length || results.some(({ isStopped }) => isStopped));
  const repeats = run.repeats === 'sum' && atOnce === undefined ? 'first' : run.repeats;
  report({ ...run, repeats, target: atOnce ?? run.target, ofEvents }, results, refusals, interrupted);
  if (interrupted) return INTERRUPTED;
  return refused > 0 ? REFUSED : 0;
}

/** True for a file that has feedback of a type of which every event counts, or may have. */
function mayCountEvents(
  { mapping, isApiForm, type, lowType }: FilePlan,
  { repeatedTypes = [] }: ImportRun,
): boolean {
  const isSaid = isApiForm || mapping.FeedbackType !== undefined;
  return repeatedTypes.some((name) => isSaid || name === type || name === lowType);
}

/** True where items are not taken out of feedback: feedback alone is asked for, or there are items, which stay. */
async function itemsAreLeft({ inputs, wishes, target }: ImportRun): Promise<boolean> {
  return inputs !== undefined || wishes.kind !== undefined || (await target?.hasItems?.()) === true;
}

/** A file of feedback with what its rows tell of items in front of it, where it has that and can be read twice. */
function withItemsWithin({ plan, opened }: Awaited<ReturnType<typeof lookAt>>): readonly FilePlan[] {
  const within = opened === undefined ? itemsWithin(plan) : undefined;
  return within === undefined ? [plan] : [within.items, within.feedback];
}

/**
 * Tells what the columns are taken for, and warns where ratings are read another way than when the service was set up.
 * @throws OperatorError where columns of items were named in a file of feedback, whose items only `init` takes
 */
function checkPlan(
  progress: Progress,
  plan: FilePlan,
  { inputs, isShown, ratingMinBefore: before, positiveTypes = [] }: ImportRun,
): void {
  if (!isShown) progress.say(`${plan.path}: ${describePlan(plan)}`);
  if (inputs === undefined) refuseItemFields(plan, plan.itemFields);
  const { path, kind, mapping, ratingMin, type, isApiForm } = plan;
  if (kind !== 'feedback' || isApiForm) return;
  if (ratingMin !== undefined && ratingMin !== before && mapping.Rating === undefined)
    progress.say(
      `${path}: warning, --positive ${ratingMin} makes no difference, for no column has ratings; --map rating=COLUMN names one`,
    );
  if (mapping.FeedbackType !== undefined) return;
  const kinds = readPositiveKinds(positiveTypes);
  if (kinds.length > 0 && !kinds.some(({ feedbackType }) => feedbackType === type))
    progress.say(
      `${path}: warning, "${type}" is none of the positive types ${positiveTypes.join(', ')}; --type says which the rows are`,
    );
  if (mapping.Rating === undefined || before === undefined || ratingMin === before) return;
  progress.say(
    `${path}: warning, the service was set up with ratings from ${before} on as likings, and here they are from ${ratingMin} on; --positive ${before} says the same as before`,
  );
}

/** Counts users, to warn of ids that are all guests together, which `init` proposes to leave out. */
function watchGuests(progress: Progress, { path, kind, guests: said }: FilePlan, run: ImportRun) {
  const users = new BusyUsers();
  const isOpen = kind === 'feedback' && said === undefined && run.inputs === undefined;
  const warn = () => {
    const guests = [...users.find().nobody.keys()].join(',');
    if (guests !== '')
      progress.say(
        `${path}: warning, user ${guests} looks like all guests together; --guests ${guests} leaves their rows out`,
      );
  };
  const onRow = ({ made }: MadeRow) => {
    if (isOpen && 'record' in made) users.add(String(Reflect.get(made.record, 'UserId')));
  };
  return { onRow, warn };
}

/** Guesses what a file holds, by its beginning. A stream is read once, so what was looked at is kept for the import. */
export async function lookAt(
  input: PresetFile,
  signal?: AbortSignal,
): Promise<{ plan: FilePlan; opened: OpenedText | undefined }> {
  const { wishes, plan: known } = input;
  const encoding = await encodingOf(input.path, wishes.encoding ?? known?.encoding);
  const { head, isWhole, opened, close } = await peekText(
    openText(input.path, encoding, signal),
    HEAD_CHARACTERS,
  );
  const isOnce = isStream(input.path);
  const reread = isOnce ? undefined : () => openText(input.path, encoding).chunks;
  const said = { ...wishes, encoding };
  const plan = await planFile(input.path, head, isWhole, said, { ...known, encoding }, reread);
  if (isOnce) return { plan, opened };
  await close();
  return { plan, opened: undefined };
}

/** @param atOnce what stores all in the end, so that there is nothing to take up again */
async function importOne(
  run: ImportRun,
  atOnce: Target | undefined,
  file: Pick<ImportOptions, 'plan' | 'opened' | 'onRefused' | 'onRow' | 'signal'>,
  progress: Progress,
): Promise<FileResult> {
  const { plan, opened } = file;
  try {
    const isCheckedFirst = opened === undefined && !run.skipsBad;
    const target = atOnce ?? run.target;
    if (target === undefined || isCheckedFirst) {
      const onProgress = showIn(progress, `checking ${plan.path}`);
      const checked = await importFile({ ...file, skipsBad: true, onProgress });
      if (target === undefined) return checked;
      if (checked.refused > 0 || checked.isStopped) return { ...checked, kept: 0 };
    }
    const { skipsBad } = run;
    const resumePoint = atOnce === undefined ? importResumePoint(run.folder, target.name, plan) : undefined;
    const show = showIn(progress, `importing ${plan.path}`);
    return await announced(target, plan, (tell) => {
      const onProgress = (bytes: number, bytesTotal: number) => {
        show(bytes, bytesTotal);
        tell(bytes, bytesTotal);
      };
      return importFile({ ...file, target, resumePoint, skipsBad, onProgress });
    });
  } finally {
    if (!file.signal.aborted) progress.end();
  }
}

/** Runs the import of a file and tells a running service about it, where it goes to one. */
async function announced(
  target: Target,
  plan: FilePlan,
  work: (tell: (bytes: number, bytesTotal: number) => void) => Promise<FileResult>,
): Promise<FileResult> {
  let announcer: ImportReports | undefined;
  const tell = (bytes: number, Total: number) => {
    announcer ??= target.announce?.({ File: basename(plan.path), Kind: plan.kind, Total });
    announcer?.progress(bytes, { Written: 0, Refused: 0 }, performance.now());
  };
  try {
    const result = await work(tell);
    const error = result.isStopped ? 'It was stopped before the end; what was sent is stored.' : undefined;
    await announcer?.end({ Written: result.stored, Refused: result.refused }, error);
    return result;
  } catch (error) {
    await announcer?.end({ Written: 0, Refused: 0 }, (error as Error).message);
    throw error;
  }
}

function showIn(progress: Progress, stage: string): (bytes: number, bytesTotal: number) => void {
  return (bytes, bytesTotal) => progress.report(`${stage}, bytes`, Math.min(bytes, bytesTotal), bytesTotal);
}

function listenForInterruption(progress: Progress): {
  readonly signal: AbortSignal;
  readonly end: () => void;
} {
  const controller = new AbortController();
  const { signal } = controller;
  let timer: NodeJS.Timeout | undefined;
  // An exit would wait for a read that never comes back, as that of a named pipe.
  const endAtOnce = () => process.kill(process.pid, 'SIGKILL');
  const onSignal = () => {
    if (signal.aborted) endAtOnce();
    progress.say('Stopping after the batch under way; once more ends at once.');
    // What is under way may wait for a service that does not answer.
    timer = setTimeout(endAtOnce, STOP_MS);
    controller.abort();
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  return {
    signal,
    end() {
      clearTimeout(timer);
      process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
    },
  };
}

function report(
  run: ReportedRun,
  results: readonly FileResult[],
  refusals: readonly RefusedRow[],
  interrupted: boolean,
): void {
  if (run.isQuiet) return;
  const { replacedReads = 0 } = run.target ?? {};
  if (run.json) {
    const files = results.map(({ isStopped: _told, ...result }) => result);
    process.stdout.write(
      `${JSON.stringify({ files, replacedReads, refusals, interrupted, dryRun: run.target === undefined })}\n`,
    );
    return;
  }
  for (const result of results) process.stdout.write(`${describe(run, result)}\n`);
  if (replacedReads > 0) {
    const [were, took] = replacedReads === 1 ? ['was', 'its'] : ['were', 'their'];
    process.stdout.write(
      `${counted(replacedReads, 'read feedback')} ${were} of a user and an item with positive feedback, which took ${took} place.\n`,
    );
  }
  if (interrupted && !run.isShown)
    process.stdout.write('Interrupted. Run the same command again to go on.\n');
  const hasFeedback = results.some(({ kind, stored }) => kind === 'feedback' && stored > 0);
  if (hasFeedback && run.positiveTypes?.length === 0) {
    process.stdout.write(
      'No positive feedback types are configured, so nothing will be learned from this feedback: set [recommend.data_source] positive_feedback_types.\n',
    );
  }
}

/** The options by which rows that are left out would be taken. */
function optionsOf(leftOut: Readonly<Record<string, number>>, { wishes, inputs = [] }: ImportRun): string {
  const guests = [wishes, ...inputs.map((input) => input.wishes)].flatMap((each) => each.guests ?? []);
  const areGuests = (state: string) => guests.map(guestState).includes(state);
  const states = Object.keys(leftOut);
  const options = [
    ...(states.every(areGuests) ? [] : ['--leave-out']),
    ...(states.some(areGuests) ? ['--guests'] : []),
  ];
  return options.join(' or ');
}

function describe(run: ReportedRun, result: FileResult): string {
  const { path, kind, isResumed, rows, kept, stored, refused, leftOut, isStopped } = result;
  const bad = refused === 0 ? '' : `, ${groupDigits(refused)} refused`;
  const gone = Object.values(leftOut).reduce((sum, count) => sum + count, 0);
  const away =
    gone === 0
      ? ''
      : `, ${groupDigits(gone)} left out (${describeLeftOut(leftOut)}; ${optionsOf(leftOut, run)} none takes them)`;
  if (run.target === undefined) return `${path}: ${counted(rows, 'rows')} of ${kind} checked${bad}${away}`;
  const left = rows - kept - refused - gone;
  const others =
    left === 0 ? '' : `, ${groupDigits(left)} left out (--skip-bad stores ${left === 1 ? 'it' : 'them'})`;
  if (refused > 0 && !run.skipsBad && kept === 0)
    return `${path}: ${counted(rows, 'rows')} read, nothing stored${bad}${away}${others}`;
  const unsent = left === 0 ? '' : ` with ${groupDigits(left)} of them not stored`;
  const cut = isStopped ? `, cut off${unsent}` : '';
  const again = kind === 'feedback' ? kept - stored : 0;
  const counts = run.repeats === 'sum' ? 'their values are added up' : `of each the ${run.repeats} counts`;
  const triple = run.ofEvents.has(path) ? 'a user, an item, a type and a time' : 'a user, an item and a type';
  const same =
    again > 0
      ? `; ${counted(again, 'rows')} ${again === 1 ? 'is' : 'are'} of ${triple} that came before: ${counts}`
      : '';
  const behind = isResumed ? ' behind those of an earlier run' : '';
  return `${path}: ${counted(rows, 'rows')} read${behind}, ${counted(stored, kind)} stored or changed${bad}${away}${cut}${same}`;
}
