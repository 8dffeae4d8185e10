import { useEffect, useRef, useState } from 'preact/hooks';
import type { Guess, Kind } from '../../exchange/guess-columns.ts';
import type { Plan, Row } from '../../exchange/rows-to-records.ts';
import { type TimeForm, timeForm } from '../../exchange/time-formats.ts';
import { count, duration } from '../format.ts';
import {
  ColumnChoices,
  DelimiterChoice,
  HeaderChoice,
  KindChoice,
  StatesChoice,
  Text,
  TimeChoice,
  TypeChoices,
} from '../import/choices.tsx';
import {
  areTimesOpen,
  columnNames,
  firstRows,
  guessFile,
  openQuestions,
  orderInFile,
  planOf,
  previewFields,
  previewOf,
  timesOf,
} from '../import/plan.ts';
import { hasUsualDelimiter, type OpenedFile, openFile, withDelimiter } from '../import/read-file.ts';
import { Upload, type UploadState } from '../import/upload.ts';
import { Bar, Card, numbers, PageHead, State, Table } from '../parts/common.tsx';
import { likeType, refreshSummary } from '../state.ts';

interface Chosen {
  readonly opened: OpenedFile;
  readonly rows: readonly Row[];
  readonly start: Guess;
}

export function ImportPage() {
  const [chosen, setChosen] = useState<Chosen>();
  const [error, setError] = useState<string>();
  const take = async (open: () => Promise<OpenedFile> | OpenedFile) => {
    try {
      const opened = await open();
      const rows = await firstRows(opened);
      if (rows.length === 0) throw new Error('The file holds no rows.');
      setChosen({ opened, rows, start: guessFile(opened, rows) });
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
      <DropZone onFile={(file) => file !== undefined && take(() => openFile(file))} />
      <State error={error} loading={false} />
      {chosen !== undefined && (
        <Mapper
          key={keyOf(chosen.opened)}
          chosen={chosen}
          onDelimiter={(sign) => take(() => withDelimiter(chosen.opened, sign))}
        />
      )}
    </>
  );
}

function keyOf({ file: { name, lastModified, size }, format }: OpenedFile): string {
  return `${name} ${lastModified} ${size} ${format.name === 'delimited' ? format.delimiter : ''}`;
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

function Mapper({ chosen, onDelimiter }: { chosen: Chosen; onDelimiter: (sign: string) => void }) {
  const { opened, rows, start } = chosen;
  const [kind, setKind] = useState<Kind>(start.kind);
  const [hasHeader, setHeader] = useState(start.hasHeader);
  const [mapping, setMapping] = useState(start.mapping);
  const [said, setSaid] = useState<TimeForm>();
  const [type, setType] = useState(likeType() ?? 'like');
  const [ratingMin, setRatingMin] = useState('4');
  const [lowType, setLowType] = useState('read');
  const [separator, setSeparator] = useState('');
  const [leftOut, setLeftOut] = useState<Plan['leftOut']>();
  const body = rows.slice(hasHeader ? 1 : 0);
  const names = columnNames(opened, rows, hasHeader);
  const times = timesOf(body, { kind, mapping });
  const order = useOrder(opened, mapping.Timestamp, said === undefined && timeForm(times) === 'open');
  const choices = { kind, mapping, type, ratingMin, lowType, separator, leftOut };
  const plan = planOf(opened, body, names, { ...choices, timesAre: said ?? order.form });
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
          {!hasUsualDelimiter(opened, names.length) && (
            <DelimiterChoice format={opened.format} onDelimiter={onDelimiter} />
          )}
          {!plan.isApiForm && (
            <>
              <ColumnChoices kind={kind} mapping={mapping} names={names} choose={choose} />
              {times.length > 0 && <TimeChoice form={plan.timeForm} example={times[0]!} onForm={setSaid} />}
              {kind === 'feedback' && !('FeedbackType' in mapping) && (
                <TypeChoices
                  {...{ plan, ratingMin }}
                  {...{ onType: setType, onRatingMin: setRatingMin, onLowType: setLowType }}
                />
              )}
              {kind !== 'feedback' && (
                <Text
                  label="Between labels in one cell (empty: found by itself)"
                  value={separator}
                  onText={setSeparator}
                />
              )}
            </>
          )}
        </div>
        <StatesChoice plan={plan} onStates={setLeftOut} />
        {opened.format.name === 'delimited' && <HeaderChoice checked={hasHeader} onChange={setHeader} />}
        <ToSay open={open} isReading={order.isReading} hasRows={body.length > 0} />
        <FirstRows body={body} plan={plan} encoding={opened.encoding} />
      </Card>
      {open.length === 0 && body.length > 0 && <Sender opened={opened} plan={plan} skipFirst={hasHeader} />}
    </>
  );
}

/** Reads a file on where its first rows do not tell whether the month or the day comes first. */
function useOrder(opened: OpenedFile, at: number | undefined, isOpen: boolean) {
  const [found, setFound] = useState<{ at: number; form: TimeForm | undefined }>();
  useEffect(() => {
    if (!isOpen || at === undefined) return;
    let isCurrent = true;
    const tell = (form?: TimeForm) => isCurrent && setFound({ at, form });
    orderInFile(opened, at).then(tell, () => tell());
    return () => {
      isCurrent = false;
    };
  }, [opened, at, isOpen]);
  const isFound = isOpen && found !== undefined && found.at === at;
  return { form: isFound ? found.form : undefined, isReading: isOpen && !isFound };
}

/** Choices that are missing before the file can be sent. */
function ToSay(props: { open: readonly string[]; isReading: boolean; hasRows: boolean }) {
  const { open, isReading, hasRows } = props;
  if (isReading) return <p class="muted">Reading on to see whether the day or the month comes first.</p>;
  if (open.length === 0 && hasRows) return null;
  return (
    <p class="trouble error" role="alert">
      {hasRows ? `Say ${open.join(' and ')}.` : 'The file holds the names of its columns and no row.'}
    </p>
  );
}

function FirstRows({ body, plan, encoding }: { body: Chosen['rows']; plan: Plan; encoding: string }) {
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
  const { sent, written, refused, leftOut, refusals, share, seconds, isOver, error } = state;
  const left = share > 0 ? (seconds / share) * (1 - share) : undefined;
  return (
    <div class="running">
      <Bar share={isOver && error === undefined ? 1 : share} label="Import" />
      <p role="status">
        {isOver && error === undefined && 'Done: '}
        {count(sent)} sent, {count(written)} written{refused > 0 && `, ${count(refused)} refused`}
        {leftOut > 0 && `, ${count(leftOut)} left out as cancelled or returned`} in {duration(seconds)}
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
