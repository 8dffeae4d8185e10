import { useState } from 'preact/hooks';
import type { RuleKey } from '../../domain/rule-schemas.ts';
import { short } from '../format.ts';
import { ItemPicker } from './item-picker.tsx';

export type Settings = Readonly<Record<string, unknown>>;

interface FieldProps {
  readonly of: RuleKey;
  /** The value that is set, or the default. */
  readonly value: unknown;
  /** Sets a value, or takes it away where it is undefined. */
  readonly set: (value: unknown) => void;
  readonly titles: Readonly<Record<string, string>>;
  /** Told of an item that was chosen. */
  readonly know: (id: string, title: string) => void;
  readonly disabled: boolean;
}

/** The settings with a key set, or without it where it has its default. */
export function withKey(settings: Settings, { Name, Default }: RuleKey, value: unknown): Settings {
  const { [Name]: _, ...others } = settings;
  return value === undefined || JSON.stringify(value) === Default ? others : { ...others, [Name]: value };
}

/** The keys of a placement, each with the field that fits it. */
export function RuleForm(
  props: Omit<FieldProps, 'of' | 'value' | 'set'> & {
    readonly keys: readonly RuleKey[];
    readonly settings: Settings;
    readonly change: (settings: Settings) => void;
  },
) {
  const { keys, settings, change, ...others } = props;
  return (
    <div class="rule-form">
      {keys.map((of) => {
        const Field = FIELDS[of.Name] ?? FORMS[of.Form];
        const value = settings[of.Name] ?? JSON.parse(of.Default);
        const set = (next: unknown) => change(withKey(settings, of, next));
        return <Field key={of.Name} of={of} value={value} set={set} {...others} />;
      })}
    </div>
  );
}

function Labeled({ of, children }: { of: RuleKey; children: preact.ComponentChildren }) {
  return (
    <div>
      <label for={`key-${of.Name}`}>{of.Name.replaceAll('_', ' ')}</label>
      {children}
      <small id={`meaning-${of.Name}`} class="muted">
        {of.Meaning}
      </small>
    </div>
  );
}

/** Ties a field to its name and its meaning. */
function tied({ Name }: RuleKey) {
  return { id: `key-${Name}`, 'aria-describedby': `meaning-${Name}` };
}

function NumberField({ of, value, set, disabled }: FieldProps) {
  const enter = (text: string) => set(text === '' || Number.isNaN(Number(text)) ? undefined : Number(text));
  return (
    <Labeled of={of}>
      <input
        {...tied(of)}
        type="number"
        step="any"
        disabled={disabled}
        value={String(value)}
        onInput={(event) => enter(event.currentTarget.value)}
      />
    </Labeled>
  );
}

function ChoiceField({ of, value, set, disabled }: FieldProps) {
  return (
    <Labeled of={of}>
      <select
        {...tied(of)}
        disabled={disabled}
        value={String(value)}
        onChange={(event) => set(event.currentTarget.value)}
      >
        {of.Choices?.map((choice) => (
          <option key={choice}>{choice}</option>
        ))}
      </select>
    </Labeled>
  );
}

/** One text a line: names may hold commas. */
function TextsField({ of, value, set, disabled }: FieldProps) {
  const lines = (text: string) => [...new Set(text.split('\n').map((line) => line.trim()))].filter(Boolean);
  return (
    <Labeled of={of}>
      <textarea
        {...tied(of)}
        rows={2}
        disabled={disabled}
        placeholder={of.Choices?.join(', ') ?? 'one a line'}
        defaultValue={(value as string[]).join('\n')}
        onChange={(event) => set(lines(event.currentTarget.value))}
      />
    </Labeled>
  );
}

function JsonField({ of, value, set, disabled }: FieldProps) {
  const [fault, setFault] = useState<string>();
  const enter = (text: string) => {
    try {
      set(text.trim() === '' ? undefined : JSON.parse(text));
      setFault(undefined);
    } catch (error) {
      setFault((error as Error).message);
    }
  };
  return (
    <Labeled of={of}>
      <textarea
        {...tied(of)}
        rows={2}
        spellcheck={false}
        disabled={disabled}
        aria-invalid={fault === undefined ? undefined : true}
        defaultValue={JSON.stringify(value)}
        onChange={(event) => enter(event.currentTarget.value)}
      />
      {fault !== undefined && <small role="alert">{fault}</small>}
    </Labeled>
  );
}

interface PinSettings {
  readonly item: string;
  readonly place: number;
  readonly until?: string;
}

function PinsField({ of, value, set, titles, know, disabled }: FieldProps) {
  const pins = value as readonly PinSettings[];
  const change = (item: string, next: Partial<PinSettings>) =>
    set(pins.map((pin) => (pin.item === item ? { ...pin, ...next } : pin)));
  const add = (item: string, title: string) => {
    know(item, title);
    if (pins.some((pin) => pin.item === item)) return;
    const free = Array.from({ length: pins.length + 1 }, (_, at) => at + 1);
    const place = free.find((each) => pins.every((pin) => pin.place !== each))!;
    set([...pins, { item, place }]);
  };
  const until = (item: string, text: string) => {
    const pin = pins.find((each) => each.item === item)!;
    const { until: _, ...others } = pin;
    const changed = text === '' ? others : { ...others, until: `${text}:00Z` };
    set(pins.map((each) => (each === pin ? changed : each)));
  };
  return (
    <fieldset disabled={disabled}>
      <legend>{of.Name}</legend>
      <small class="muted">{of.Meaning}</small>
      <ul class="pins">
        {pins.map((pin) => (
          <li key={pin.item}>
            <strong>{nameOf(pin.item, titles)}</strong>
            <label>
              Place
              <input
                type="number"
                min={1}
                value={pin.place}
                onInput={(event) => change(pin.item, { place: Number(event.currentTarget.value) })}
              />
            </label>
            <label>
              Until (UTC)
              <input
                type="datetime-local"
                value={pin.until?.slice(0, 16) ?? ''}
                onChange={(event) => until(pin.item, event.currentTarget.value)}
              />
            </label>
            <RemoveButton
              what={nameOf(pin.item, titles)}
              act={() => set(pins.filter((each) => each !== pin))}
            />
          </li>
        ))}
      </ul>
      <ItemPicker label="Title or id of an item to pin" choose={add} />
    </fieldset>
  );
}

function ExcludeField({ of, value, set, titles, know, disabled }: FieldProps) {
  const ids = value as readonly string[];
  const add = (id: string, title: string) => {
    know(id, title);
    if (!ids.includes(id)) set([...ids, id]);
  };
  return (
    <fieldset disabled={disabled}>
      <legend>{of.Name}</legend>
      <small class="muted">{of.Meaning}</small>
      <ul class="pins">
        {ids.map((id) => (
          <li key={id}>
            <strong>{nameOf(id, titles)}</strong>
            <RemoveButton what={nameOf(id, titles)} act={() => set(ids.filter((each) => each !== id))} />
          </li>
        ))}
      </ul>
      <ItemPicker label="Title or id of an item to leave out" choose={add} />
    </fieldset>
  );
}

function RemoveButton({ what, act }: { what: string; act: () => void }) {
  return (
    <button type="button" class="small outline" aria-label={`Remove ${what}`} onClick={act}>
      Remove
    </button>
  );
}

function nameOf(id: string, titles: Readonly<Record<string, string>>): string {
  const title = titles[id];
  return title === undefined ? `${short(id)} (no such item)` : short(title || id);
}

const FORMS = { number: NumberField, choice: ChoiceField, texts: TextsField, json: JsonField } as const;
/** Fields that are better than what the form of their values tells. */
const FIELDS: Readonly<Record<string, typeof PinsField>> = { pins: PinsField, exclude: ExcludeField };
