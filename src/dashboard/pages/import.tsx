import { useRef, useState } from 'preact/hooks';
import { FIELDS, type Guess, guess, type Kind, REQUIRED } from '../../exchange/columns.ts';
import type { Plan } from '../../exchange/records.ts';
import { hasDecimalCommas, recordOf } from '../../exchange/records.ts';
import { type TimeForm, timeForm } from '../../exchange/time-forms.ts';
import { count, duration } from '../format.ts';
import { type OpenedFile, openFile, rowsOf } from '../import/read-file.ts';
import { Upload, type UploadState } from '../import/upload.ts';
import { Bar, Card, numbers, PageHead, State, Table } from '../parts/common.tsx';
import { likeType, refreshSummary } from '../state.ts';

/** Rows by which columns are guessed. */
const GUESS_ROWS = 5000;
const SHOWN_ROWS = 5;

const TIME_NAMES: Readonly<Record<TimeForm, string>> = {
  seconds: 'seconds since 1970',
  milliseconds: 'milliseconds since 1970',
  date: 'dates: year first, or the month by name',
  'month-first': 'dates: month, day, year',
  'day-first': 'dates: day, month, year',
};

interface Chosen {
  readonly opened: OpenedFile;
  readonly rows: readonly (readonly string[])[];
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
      setStart(guess(rows));
      setChosen({ opened, rows });
      setError(undefined);
    } catch (problem) {
      setError((problem as Error).message);
    }
  };
  return (
    <>
      <PageHead title="Import">
        A file of users, items or feedback with commas, tabs or semicolons; with or without names in its first
        row, packed with gzip or not.
      </PageHead>
      <DropZone onFile={take} />
      <State error={error} loading={false} />
      {chosen !== undefined && start !== undefined && (
        <Mapper key={keyOf(chosen.opened)} chosen={chosen} start={start} />
      )}
    </>
  );
}

async function firstRows(opened: OpenedFile): Promise<(readonly string[])[]> {
  for await (const { rows } of rowsOf(opened)) return rows.slice(0, GUESS_ROWS).map(({ cells }) => cells);
  return [];
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
          accept=".csv,.tsv,.txt,.data,.gz,text/csv"
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
  const [type, setType] = useState(likeType() ?? 'like');
  const [ratingMin, setRatingMin] = useState('4');
  const [lowType, setLowType] = useState('read');
  const [separator, setSeparator] = useState('|');
  const names = rows[0]!.map((name, at) => (hasHeader ? name : `column ${at + 1}`));
  const body = rows.slice(hasHeader ? 1 : 0);
  const times = kind === 'users' ? [] : columnOf(body, mapping.Timestamp);
  const [said, setSaid] = useState<TimeForm>();
  const plan: Plan = {
    kind,
    mapping,
    timeForm: said ?? clearForm(times),
    hasDecimalCommas: hasDecimalCommas(numbersOf(body, mapping)),
    type,
    ratingMin: kind === 'feedback' && 'Rating' in mapping && ratingMin !== '' ? Number(ratingMin) : undefined,
    lowType,
    separator,
  };
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
          <ColumnChoices kind={kind} mapping={mapping} names={names} choose={choose} />
          {times.length > 0 && <TimeChoice form={plan.timeForm} onForm={setSaid} />}
          {kind === 'feedback' && !('FeedbackType' in mapping) && (
            <TypeChoices
              plan={plan}
              onType={setType}
              ratingMin={ratingMin}
              onRatingMin={setRatingMin}
              onLowType={setLowType}
            />
          )}
          {kind !== 'feedback' && (
            <Text label="Between labels in one cell" value={separator} onText={setSeparator} />
          )}
        </div>
        <HeaderChoice checked={hasHeader} onChange={setHeader} />
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

function openQuestions({ kind, mapping, timeForm: form }: Plan, times: readonly string[]): string[] {
  const missing = REQUIRED[kind].filter((field) => !(field in mapping));
  const questions = missing.map((field) => `which column is ${field}`);
  return times.length > 0 && form === undefined ? [...questions, 'how the times are written'] : questions;
}

function KindChoice({ kind, onKind }: { kind: Kind; onKind: (kind: Kind) => void }) {
  return (
    <label>
      It holds
      <select value={kind} onChange={(event) => onKind(event.currentTarget.value as Kind)}>
        <option value="users">users</option>
        <option value="items">items</option>
        <option value="feedback">feedback</option>
      </select>
    </label>
  );
}

/** For each field the column that it comes from. */
function ColumnChoices(props: {
  kind: Kind;
  mapping: Plan['mapping'];
  names: readonly string[];
  choose: (field: string, column: string) => void;
}) {
  const { kind, mapping, names, choose } = props;
  return FIELDS[kind].map((field) => (
    <label key={field}>
      {field}
      {REQUIRED[kind].includes(field) && ' (needed)'}
      <select value={mapping[field] ?? ''} onChange={(event) => choose(field, event.currentTarget.value)}>
        <option value="">not in the file</option>
        {names.map((name, at) => (
          <option key={`${at} ${name}`} value={at}>
            {name}
          </option>
        ))}
      </select>
    </label>
  ));
}

function HeaderChoice({ checked, onChange }: { checked: boolean; onChange: (checked: boolean) => void }) {
  return (
    <label class="check">
      <input type="checkbox" checked={checked} onChange={(event) => onChange(event.currentTarget.checked)} />
      The first row names the columns
    </label>
  );
}

/** What type feedback gets that does not name its own. */
function TypeChoices(props: {
  plan: Plan;
  onType: (text: string) => void;
  ratingMin: string;
  onRatingMin: (text: string) => void;
  onLowType: (text: string) => void;
}) {
  const { plan, onType, ratingMin, onRatingMin, onLowType } = props;
  return (
    <>
      <Text label="Type of the feedback" value={plan.type} onText={onType} />
      {plan.ratingMin !== undefined && (
        <>
          <Text label={`A rating counts as ${plan.type} from`} value={ratingMin} onText={onRatingMin} />
          <Text label="Type of a lower rating" value={plan.lowType} onText={onLowType} />
        </>
      )}
    </>
  );
}

function Text({ label, value, onText }: { label: string; value: string; onText: (text: string) => void }) {
  return (
    <label>
      {label}
      <input type="text" value={value} onInput={(event) => onText(event.currentTarget.value)} />
    </label>
  );
}

/** How the times are written, where the column cannot tell or was misunderstood. */
function TimeChoice({ form, onForm }: { form: TimeForm | undefined; onForm: (form: TimeForm) => void }) {
  return (
    <label>
      Times are
      <select value={form ?? ''} onChange={(event) => onForm(event.currentTarget.value as TimeForm)}>
        {form === undefined && <option value="">choose</option>}
        {Object.entries(TIME_NAMES).map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

function clearForm(times: readonly string[]): TimeForm | undefined {
  const form = timeForm(times);
  return form === 'open' ? undefined : form;
}

function numbersOf(body: Chosen['rows'], { Value, Rating }: Plan['mapping']): string[] {
  return [...columnOf(body, Value), ...columnOf(body, Rating)];
}

/** The values that a column has. */
function columnOf(body: Chosen['rows'], at: number | undefined): string[] {
  return at === undefined ? [] : body.map((row) => row[at] ?? '').filter((value) => value !== '');
}

function FirstRows({
  body,
  plan,
  encoding,
}: {
  body: readonly (readonly string[])[];
  plan: Plan;
  encoding: string;
}) {
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
  return Array.isArray(value) ? value.join(', ') : String(value ?? '');
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
