import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Mapping } from '../../exchange/guess-columns.ts';
import type { FilePlan, Reading } from '../../exchange/import-plan.ts';
import type { Row } from '../../exchange/rows-to-records.ts';
import { count, duration, percent } from '../format.ts';
import {
  Checks,
  ColumnChoices,
  DelimiterChoice,
  KindChoice,
  Text,
  TimeChoice,
  TypeChoices,
} from '../import/choices.tsx';
import {
  areTimesOpen,
  choicesOf,
  type Findings,
  findingsOf,
  look,
  openQuestions,
  type Planned,
  planOf,
  previewFields,
  previewOf,
  type Said,
  settle,
} from '../import/plan.ts';
import { type OpenedFile, openFile } from '../import/read-file.ts';
import { Upload, type UploadState } from '../import/upload.ts';
import { Bar, Card, numbers, PageHead, State, Table } from '../parts/common.tsx';
import { positiveTypes, refreshSummary, summary } from '../state.ts';

export function ImportPage() {
  const [opened, setOpened] = useState<OpenedFile>();
  const [error, setError] = useState<string>();
  const take = (file: File) =>
    openFile(file).then(
      (found) => {
        setOpened(found);
        setError(undefined);
      },
      (problem: Error) => {
        // The one before is no longer the one that was chosen.
        setOpened(undefined);
        setError(problem.message);
      },
    );
  return (
    <>
      <PageHead title="Import">
        A file of users, items or feedback: commas, tabs or semicolons between columns, with or without names
        in its first row, NDJSON or one JSON array; packed with gzip or not.
      </PageHead>
      <DropZone onFile={(file) => file !== undefined && take(file)} />
      <State error={error} loading={false} />
      {opened !== undefined && <Mapper key={keyOf(opened)} opened={opened} />}
    </>
  );
}

function keyOf({ file: { name, lastModified, size } }: OpenedFile): string {
  return `${name} ${lastModified} ${size}`;
}

function DropZone({ onFile }: { onFile: (file: File | undefined) => void }) {
  const [isOver, setOver] = useState(false);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    onFile(event.dataTransfer?.files[0]);
  };
  const over = (event: DragEvent) => {
    event.preventDefault();
    setOver(true);
  };
  return (
    // The input within does the same by keyboard.
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is one more way to choose a file
    <div
      class={`card drop ${isOver ? 'over' : ''}`}
      onDrop={drop}
      onDragOver={over}
      onDragLeave={() => setOver(false)}
    >
      <label>
        Drop a file here, or choose one
        <input
          type="file"
          accept=".csv,.tsv,.txt,.data,.dat,.ndjson,.jsonl,.json,.gz,text/csv"
          onChange={(event) => onFile(event.currentTarget.files?.[0])}
        />
      </label>
    </div>
  );
}

function Mapper({ opened }: { opened: OpenedFile }) {
  const [said, setSaid] = useState<Said>({});
  const { reading, error, isReading } = useReading(opened, said);
  if (reading === undefined) return <State error={error} loading={isReading} />;
  const planned = planOf(opened, reading, said);
  return <Choices {...{ planned, isReading, said, setSaid }} />;
}

function Choices(props: {
  planned: Planned;
  isReading: boolean;
  said: Said;
  setSaid: (said: Said | ((before: Said) => Said)) => void;
}) {
  const { planned, isReading, said, setSaid } = props;
  const say = (more: Said) => setSaid((before) => ({ ...before, ...more }));
  const { opened, plan, body, times, guessed } = planned;
  const open = openQuestions(planned);
  const isReady = open.length === 0 && body.length > 0 && !isReading;
  const { findings, share, error } = useFindings(opened, plan, isReady);
  const service = { positiveTypes: positiveTypes(), hasItems: (summary.value?.Items ?? 0) > 0 };
  const settled = findings && settle(plan, findings, said, service);
  const shown = settled?.plans.at(-1) ?? plan;
  return (
    <>
      <Card wide title={opened.file.name}>
        <div class="grid-form">
          <KindChoice kind={plan.kind} onKind={(kind) => say({ kind })} />
          <DelimiterChoice plan={plan} said={said} onDelimiter={(delimiter) => setSaid({ delimiter })} />
          {!plan.isApiForm && (
            <Fields {...{ plan: shown, said, say }} mapping={said.mapping ?? guessed}>
              {times.length > 0 && (
                <TimeChoice form={plan.timeForm} example={times[0]!} onForm={(it) => say({ timeForm: it })} />
              )}
            </Fields>
          )}
        </div>
        <Checks proposals={[...choicesOf(planned, said), ...(settled?.proposals ?? [])]} say={say} />
        <ToSay open={open} isReading={isReading} hasRows={body.length > 0} />
        {shown.noItems && <p class="trouble error">No items are found{shown.noItems}.</p>}
        {isReady && settled === undefined && error === undefined && (
          <p class="muted" role="status">
            Reading the file through: {percent(share)}.
          </p>
        )}
        <State error={error ?? settled?.stop} loading={false} />
        <FirstRows body={body} plan={shown} encoding={opened.encoding} />
      </Card>
      {settled !== undefined && settled.stop === undefined && (
        <Sender opened={opened} plans={settled.plans} />
      )}
    </>
  );
}

/** The column of each field, and how its cells are read. */
function Fields(props: {
  plan: FilePlan;
  mapping: Mapping;
  said: Said;
  say: (more: Said) => void;
  children: ComponentChildren;
}) {
  const { plan, mapping, said, say, children } = props;
  const { kind, columns: names } = plan;
  return (
    <>
      <ColumnChoices
        {...{ kind, mapping, names }}
        choose={(field, column) => say(withColumn(mapping, field, column))}
      />
      {children}
      {kind === 'feedback' && plan.mapping.FeedbackType === undefined && (
        <TypeChoices plan={plan} say={say} />
      )}
      {kind !== 'feedback' && (
        <Text
          label="Between labels in one cell (empty: found by itself)"
          value={said.separator ?? ''}
          onText={(separator) => say({ separator })}
        />
      )}
    </>
  );
}

/** Choices with another column for a field; a clock is of the days beside it, and so is a form of times. */
function withColumn(mapping: Mapping, field: string, column: string): Said {
  const { [field]: _before, ...others } = mapping;
  const { Clock: _clock, ...days } = others;
  const isTime = field === 'Timestamp';
  const rest = isTime ? days : others;
  return {
    mapping: column === '' ? rest : { ...rest, [field]: Number(column) },
    ...(isTime && { timeForm: undefined }),
  };
}

/** Reads a file through by a plan, again whenever another one makes other rows of it. */
function useFindings(opened: OpenedFile, plan: FilePlan, isReady: boolean) {
  const [state, setState] = useState<{ key: string; share: number; findings?: Findings; error?: string }>();
  const key = JSON.stringify({ ...plan, type: '', lowType: '', zeroRating: '', guests: '' });
  useEffect(() => {
    if (!isReady) return;
    let isCurrent = true;
    const tell = (share: number) => {
      if (isCurrent) setState({ key, share });
      return isCurrent;
    };
    findingsOf(opened, plan, tell).then(
      (findings) => isCurrent && setState({ key, share: 1, findings }),
      (error: Error) => isCurrent && setState({ key, share: 1, error: error.message }),
    );
    return () => {
      isCurrent = false;
    };
  }, [opened, key, isReady]);
  const isOf = isReady && state?.key === key;
  return isOf ? state : { share: 0, findings: undefined, error: undefined };
}

/** Reads the first rows by what was said, and on where these do not tell how the times are written. */
function useReading(opened: OpenedFile, { kind, mapping, hasHeader, delimiter }: Said) {
  const [state, setState] = useState<{ key?: string; reading?: Reading; error?: string }>({});
  const key = JSON.stringify({ kind, mapping, hasHeader, delimiter });
  useEffect(() => {
    let isCurrent = true;
    look(opened, JSON.parse(key) as Said).then(
      (reading) => isCurrent && setState({ key, reading }),
      (error: Error) => isCurrent && setState({ key, error: error.message }),
    );
    return () => {
      isCurrent = false;
    };
  }, [opened, key]);
  return { ...state, isReading: state.key !== key };
}

/** Choices that are missing before the file can be sent. */
function ToSay(props: { open: readonly string[]; isReading: boolean; hasRows: boolean }) {
  const { open, isReading, hasRows } = props;
  if (isReading) return <p class="muted">Reading on to see how the times are written.</p>;
  if (open.length === 0 && hasRows) return null;
  return (
    <p class="trouble error" role="alert">
      {hasRows ? `Say ${open.join(' and ')}.` : 'The file holds the names of its columns and no row.'}
    </p>
  );
}

function FirstRows(props: { body: readonly Row[]; plan: FilePlan; encoding: string }) {
  const { body, plan, encoding } = props;
  const fields = previewFields(plan.kind);
  return (
    <>
      <p class="muted">
        {areTimesOpen(plan)
          ? 'The first rows, with times as the file has them'
          : 'The first rows as they will be stored'}
        {encoding !== 'utf-8' && `; the text is not UTF-8 and is read as ${encoding}`}.
      </p>
      <Table label="First rows" head={fields}>
        {previewOf(body, plan).map((one, at) => (
          <tr key={at}>
            {!('cells' in one) ? (
              <td colSpan={fields.length}>
                {'refusal' in one ? `refused: ${one.refusal}` : `left out: ${one.leftOut}`}
              </td>
            ) : (
              one.cells.map((text, place) => <td key={fields[place]}>{text}</td>)
            )}
          </tr>
        ))}
      </Table>
    </>
  );
}

function Sender({ opened, plans }: { opened: OpenedFile; plans: readonly FilePlan[] }) {
  const [state, setState] = useState<UploadState>();
  const upload = useRef<Upload | undefined>(undefined);
  const run = async () => {
    upload.current = new Upload(opened, plans, setState);
    await upload.current.run();
    await refreshSummary();
  };
  const isRunning = state !== undefined && !state.isOver;
  return (
    <Card wide title="Send">
      <span class="buttons">
        <button type="button" disabled={isRunning} onClick={run}>
          Import {plans.map(({ kind }) => kind).join(' and ')}
        </button>
        {isRunning && (
          <button type="button" class="outline" onClick={() => upload.current?.stop()}>
            Stop
          </button>
        )}
      </span>
      {state !== undefined && <Progress state={state} />}
    </Card>
  );
}

function Progress({ state }: { state: UploadState }) {
  const { sent, written, refused, leftOut, refusals, share, seconds, isOver, error } = state;
  const left = share > 0 ? (seconds / share) * (1 - share) : undefined;
  return (
    <div class="running">
      <Bar share={isOver && error === undefined ? 1 : share} label="Import" />
      <p role="status">
        {isOver && error === undefined && 'Done: '}
        {count(sent)} sent, {count(written)} written{refused > 0 && `, ${count(refused)} refused`}
        {leftOut > 0 && `, ${count(leftOut)} left out as cancelled, returned or of guests`} in{' '}
        {duration(seconds)}
        {!isOver && left !== undefined && `, ${duration(left)} left`}.
      </p>
      {error !== undefined && (
        <p class="trouble error" role="alert">
          {error}
        </p>
      )}
      {refusals.length > 0 && (
        <Table label="Refused rows" head={[...numbers('Line'), 'Reason']}>
          {refusals.map(({ line, reason }) => (
            <tr key={`${line} ${reason}`}>
              <td class="number">{line}</td>
              <td>{reason}</td>
            </tr>
          ))}
        </Table>
      )}
    </div>
  );
}
