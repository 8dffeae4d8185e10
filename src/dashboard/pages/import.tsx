import { useRef, useState } from 'preact/hooks';
import { FIELDS, type Guess, guess, type Kind, REQUIRED } from '../../exchange/columns.ts';
import { textsOf } from '../../exchange/read-rows.ts';
import { hasDecimalCommas, isExport, type Plan, type Row, recordOf } from '../../exchange/records.ts';
import { type TimeForm, timeForm } from '../../exchange/time-forms.ts';
import { count, duration } from '../format.ts';
import {
  ColumnChoices,
  HeaderChoice,
  KindChoice,
  Text,
  TimeChoice,
  TypeChoices,
} from '../import/choices.tsx';
import { type OpenedFile, openFile, rowsOf } from '../import/read-file.ts';
import { Upload, type UploadState } from '../import/upload.ts';
import { Bar, Card, numbers, PageHead, State, Table } from '../parts/common.tsx';
import { likeType, refreshSummary } from '../state.ts';

/** Rows by which columns are guessed. */
const GUESS_ROWS = 5000;
const SHOWN_ROWS = 5;

interface Chosen {
  readonly opened: OpenedFile;
  readonly rows: readonly Row[];
}

export function ImportPage() {
  const [chosen, setChosen] = useState<Chosen>();
  const [start, setStart] = useState<Guess>();
  const [error, setError] = useState<string>();
  const take = async (given: File | undefined) => {
    if (given === undefined) return;
    try {
      const opened = await openFile(given);
      const rows = await firstRows(opened);
      if (rows.length === 0) throw new Error('The file holds no rows.');
      setStart(startOf(opened, rows));
      setChosen({ opened, rows });
      setError(undefined);
    } catch (problem) {
      setError((problem as Error).message);
    }
  };
  return (
    <>
      <PageHead title="Import">
        A file of users, items or feedback: commas, tabs or semicolons between columns, with or without names
        in its first row, or NDJSON; packed with gzip or not.
      </PageHead>
      <DropZone onFile={take} />
      <State error={error} loading={false} />
      {chosen !== undefined && start !== undefined && (
        <Mapper key={keyOf(chosen.opened)} chosen={chosen} start={start} />
      )}
    </>
  );
}

/** What the columns seem to be. */
function startOf({ format, keys, apiKind }: OpenedFile, rows: readonly Row[]): Guess {
  if (apiKind !== undefined) return { kind: apiKind, hasHeader: false, mapping: {} };
  const texts = rows.map(textsOf);
  return format.name === 'ndjson' ? { ...guess([[...keys], ...texts]), hasHeader: false } : guess(texts);
}

async function firstRows(opened: OpenedFile): Promise<Row[]> {
  const first: Row[] = [];
  for await (const { rows } of rowsOf(opened)) {
    for (const row of rows) if ('cells' in row) first.push(row.cells);
    if (first.length >= GUESS_ROWS) break;
  }
  return first.slice(0, GUESS_ROWS);
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

function Mapper({ chosen: { opened, rows }, start }: { chosen: Chosen; start: Guess }) {
  const [kind, setKind] = useState<Kind>(start.kind);
  const [hasHeader, setHeader] = useState(start.hasHeader);
  const [mapping, setMapping] = useState(start.mapping);
  const [said, setSaid] = useState<TimeForm>();
  const [type, setType] = useState(likeType() ?? 'like');
  const [ratingMin, setRatingMin] = useState('4');
  const [lowType, setLowType] = useState('read');
  const [separator, setSeparator] = useState('|');
  const body = rows.slice(hasHeader ? 1 : 0);
  const names = namesOf(opened, rows, hasHeader);
  const choices = { kind, mapping, said, type, ratingMin, lowType, separator };
  const plan = planOf(opened, body, { ...choices, keepsBlanks: isExport(kind, names) });
  const times = timesOf(body, plan);
  const open = openQuestions(plan, times);
  const choose = (field: string, column: string) => {
    const { [field]: _before, ...rest } = mapping;
    if (field === 'Timestamp') setSaid(undefined);
    setMapping(column === '' ? rest : { ...rest, [field]: Number(column) });
  };
  return (
    <>
      <Card wide title={opened.file.name}>
        <div class="grid-form">
          <KindChoice kind={kind} onKind={setKind} />
          {!plan.isApiForm && (
            <>
              <ColumnChoices kind={kind} mapping={mapping} names={names} choose={choose} />
              {times.length > 0 && <TimeChoice form={plan.timeForm} onForm={setSaid} />}
              {kind === 'feedback' && !('FeedbackType' in mapping) && (
                <TypeChoices
                  {...{ plan, ratingMin }}
                  {...{ onType: setType, onRatingMin: setRatingMin, onLowType: setLowType }}
                />
              )}
              {kind !== 'feedback' && (
                <Text label="Between labels in one cell" value={separator} onText={setSeparator} />
              )}
            </>
          )}
        </div>
        {opened.format.name === 'delimited' && <HeaderChoice checked={hasHeader} onChange={setHeader} />}
        {open.length > 0 && (
          <p class="trouble error" role="alert">
            Say {open.join(' and ')}.
          </p>
        )}
        <FirstRows body={body} plan={plan} encoding={opened.encoding} />
      </Card>
      {open.length === 0 && <Sender opened={opened} plan={plan} skipFirst={hasHeader} />}
    </>
  );
}

/** What was chosen on the page. */
interface Choices extends Pick<Plan, 'kind' | 'mapping' | 'type' | 'lowType' | 'separator' | 'keepsBlanks'> {
  /** How the times are written, where that was said. */
  readonly said: TimeForm | undefined;
  readonly ratingMin: string;
}

function planOf(
  { keys, apiKind }: OpenedFile,
  body: Chosen['rows'],
  { said, ratingMin, ...chosen }: Choices,
): Plan {
  const { kind, mapping } = chosen;
  const isRated = kind === 'feedback' && 'Rating' in mapping && ratingMin !== '';
  const numbers = [...columnOf(body, mapping.Value), ...columnOf(body, mapping.Rating)];
  return {
    ...chosen,
    timeForm: said ?? clearForm(timesOf(body, chosen)),
    hasDecimalCommas: hasDecimalCommas(numbers),
    ratingMin: isRated ? Number(ratingMin) : undefined,
    columns: keys,
    isApiForm: apiKind !== undefined,
  };
}

function namesOf({ format, keys }: OpenedFile, rows: Chosen['rows'], hasHeader: boolean): readonly string[] {
  if (format.name === 'ndjson') return keys;
  return rows[0]!.map((name, at) => (hasHeader ? String(name) : `column ${at + 1}`));
}

function timesOf(body: Chosen['rows'], { kind, mapping }: Pick<Plan, 'kind' | 'mapping'>): string[] {
  return kind === 'users' ? [] : columnOf(body, mapping.Timestamp);
}

function openQuestions(plan: Plan, times: readonly string[]): string[] {
  const { kind, mapping, timeForm: form, isApiForm } = plan;
  if (isApiForm) return [];
  const missing = REQUIRED[kind].filter((field) => !(field in mapping));
  const questions = missing.map((field) => `which column is ${field}`);
  return times.length > 0 && form === undefined ? [...questions, 'how the times are written'] : questions;
}

function clearForm(times: readonly string[]): TimeForm | undefined {
  const form = timeForm(times);
  return form === 'open' ? undefined : form;
}

/** The values that a column has. */
function columnOf(body: Chosen['rows'], at: number | undefined): string[] {
  return at === undefined ? [] : body.map((row) => textsOf([row[at]])[0]!).filter((value) => value !== '');
}

function FirstRows({ body, plan, encoding }: { body: Chosen['rows']; plan: Plan; encoding: string }) {
  const made = body.slice(0, SHOWN_ROWS).map((row) => recordOf(row, plan));
  const fields = FIELDS[plan.kind].filter((field) => field !== 'Rating');
  return (
    <>
      <p class="muted">
        The first rows as they will be stored
        {encoding !== 'utf-8' && `; the text is not UTF-8 and is read as ${encoding}`}.
      </p>
      <Table label="First rows" head={fields}>
        {made.map((one, at) => (
          <tr key={at}>
            {'refusal' in one ? (
              <td colSpan={fields.length}>refused: {one.refusal}</td>
            ) : (
              fields.map((field) => (
                <td key={field}>{show((one.record as Record<string, unknown>)[field])}</td>
              ))
            )}
          </tr>
        ))}
      </Table>
    </>
  );
}

function show(value: unknown): string {
  return Array.isArray(value) ? value.join(', ') : textsOf([value])[0]!;
}

function Sender({ opened, plan, skipFirst }: { opened: OpenedFile; plan: Plan; skipFirst: boolean }) {
  const [state, setState] = useState<UploadState>();
  const upload = useRef<Upload | undefined>(undefined);
  const run = async () => {
    upload.current = new Upload(opened, plan, skipFirst, setState);
    await upload.current.run();
    await refreshSummary();
  };
  const isRunning = state !== undefined && !state.isOver;
  return (
    <Card wide title="Send">
      <span class="buttons">
        <button type="button" disabled={isRunning} onClick={run}>
          Import {plan.kind}
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
  const { sent, written, refused, refusals, share, seconds, isOver, error } = state;
  const left = share > 0 ? (seconds / share) * (1 - share) : undefined;
  return (
    <div class="running">
      <Bar share={isOver && error === undefined ? 1 : share} label="Import" />
      <p role="status">
        {isOver && error === undefined && 'Done: '}
        {count(sent)} sent, {count(written)} written{refused > 0 && `, ${count(refused)} refused`} in{' '}
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
