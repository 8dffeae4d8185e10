import { useRef, useState } from 'preact/hooks';
import { FIELDS, type Guess, guess, type Kind, REQUIRED, timeUnit } from '../../exchange/columns.ts';
import type { Plan } from '../../exchange/records.ts';
import { recordOf } from '../../exchange/records.ts';
import { count, duration } from '../format.ts';
import { preview, Upload, type UploadState, unpack } from '../import/upload.ts';
import { Bar, Card, numbers, PageHead, State, Table } from '../parts/common.tsx';
import { likeType, refreshSummary } from '../state.ts';

/** Rows by which columns are guessed. */
const GUESS_ROWS = 200;
const SHOWN_ROWS = 5;

interface Chosen {
  readonly file: File;
  readonly rows: readonly (readonly string[])[];
}

export function ImportPage() {
  const [chosen, setChosen] = useState<Chosen>();
  const [start, setStart] = useState<Guess>();
  const [error, setError] = useState<string>();
  const take = async (given: File | undefined) => {
    if (given === undefined) return;
    try {
      const file = await unpack(given);
      const rows = await preview(file, GUESS_ROWS);
      if (rows.length === 0) throw new Error('The file holds no rows.');
      setStart(guess(rows));
      setChosen({ file, rows });
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
        <Mapper
          key={`${chosen.file.name} ${chosen.file.lastModified} ${chosen.file.size}`}
          chosen={chosen}
          start={start}
        />
      )}
    </>
  );
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

function Mapper({ chosen: { file, rows }, start }: { chosen: Chosen; start: Guess }) {
  const [kind, setKind] = useState<Kind>(start.kind);
  const [hasHeader, setHeader] = useState(start.hasHeader);
  const [mapping, setMapping] = useState(start.mapping);
  const [type, setType] = useState(likeType() ?? 'like');
  const [ratingMin, setRatingMin] = useState('4');
  const [lowType, setLowType] = useState('read');
  const [separator, setSeparator] = useState('|');
  const names = rows[0]!.map((name, at) => (hasHeader ? name : `column ${at + 1}`));
  const body = rows.slice(hasHeader ? 1 : 0);
  const timeColumn = mapping.Timestamp;
  const plan: Plan = {
    kind,
    mapping,
    timeUnit: timeColumn === undefined ? undefined : timeUnit(body.map((row) => row[timeColumn] ?? '')),
    type,
    ratingMin: kind === 'feedback' && 'Rating' in mapping && ratingMin !== '' ? Number(ratingMin) : undefined,
    lowType,
    separator,
  };
  const missing = REQUIRED[kind].filter((field) => !(field in mapping));
  const choose = (field: string, column: string) => {
    const { [field]: _before, ...rest } = mapping;
    setMapping(column === '' ? rest : { ...rest, [field]: Number(column) });
  };
  return (
    <>
      <Card wide title={file.name}>
        <div class="grid-form">
          <KindChoice kind={kind} onKind={setKind} />
          <ColumnChoices kind={kind} mapping={mapping} names={names} choose={choose} />
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
        {missing.length > 0 && (
          <p class="trouble error" role="alert">
            Say which column is {missing.join(' and ')}.
          </p>
        )}
        <FirstRows body={body} plan={plan} timeColumn={timeColumn} />
      </Card>
      {missing.length === 0 && <Sender file={file} plan={plan} skipFirst={hasHeader} />}
    </>
  );
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

function FirstRows({
  body,
  plan,
  timeColumn,
}: {
  body: readonly (readonly string[])[];
  plan: Plan;
  timeColumn: number | undefined;
}) {
  const made = body.slice(0, SHOWN_ROWS).map((row) => recordOf(row, plan));
  const fields = FIELDS[plan.kind].filter((field) => field !== 'Rating');
  return (
    <>
      <p class="muted">
        The first rows as they will be stored
        {timeColumn !== undefined &&
          (plan.timeUnit === undefined
            ? '; the times are not understood and left out'
            : `; times are ${plan.timeUnit}`)}
        .
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

function Sender({ file, plan, skipFirst }: { file: File; plan: Plan; skipFirst: boolean }) {
  const [state, setState] = useState<UploadState>();
  const upload = useRef<Upload | undefined>(undefined);
  const run = async () => {
    upload.current = new Upload(file, plan, skipFirst, setState);
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
