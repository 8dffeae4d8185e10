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
  /** Told whether a field holds what is no value of its form, which is not among the settings. */
  readonly tellFault: (name: string, isFaulty: boolean) => void;
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
        const Field = FIELDS[of.Name] ?? (of.Form === 'switch' ? SwitchField : TextField);
        const value = settings[of.Name] ?? JSON.parse(of.Default);
        const set = (next: unknown) => change(withKey(settings, of, next));
        return <Field key={of.Name} of={of} value={value} set={set} {...others} />;
      })}
    </div>
  );
}

/** Ways of a value into the text of a field and back, by its form; a text that is none throws. */
const FORMS: Readonly<
  Record<Exclude<RuleKey['Form'], 'switch'>, readonly [(value: unknown) => string, (text: string) => unknown]>
> = {
  number: [String, (text) => (text === '' || Number.isNaN(Number(text)) ? undefined : Number(text))],
  choice: [String, (text) => text],
  // One a line: names may hold commas.
  texts: [
    (value) => (value as string[]).join('\n'),
    (text) => [...new Set(text.split('\n').map((line) => line.trim()))].filter(Boolean),
  ],
  json: [JSON.stringify, (text) => (text.trim() === '' ? undefined : JSON.parse(text))],
};

function TextField({ of, value, set, tellFault, disabled }: FieldProps) {
  const { Name, Form, Choices, Meaning } = of;
  const [fault, setFault] = useState<string>();
  const [write, read] = FORMS[Form === 'switch' ? 'json' : Form];
  const enter = (text: string) => {
    try {
      set(read(text));
      setFault(undefined);
      tellFault(Name, false);
    } catch (error) {
      setFault((error as Error).message);
      tellFault(Name, true);
    }
  };
  const field = { id: `key-${Name}`, 'aria-describedby': `meaning-${Name}`, disabled };
  return (
    <div>
      <label for={field.id}>{Name.replaceAll('_', ' ')}</label>
      {Form === 'number' ? (
        <input
          {...field}
          type="number"
          step="any"
          value={write(value)}
          onInput={(event) => enter(event.currentTarget.value)}
        />
      ) : Form === 'choice' ? (
        <select {...field} value={write(value)} onChange={(event) => enter(event.currentTarget.value)}>
          {Choices?.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      ) : (
        <textarea
          {...field}
          rows={2}
          spellcheck={false}
          aria-invalid={fault === undefined ? undefined : true}
          placeholder={Choices?.join(', ') ?? (Form === 'texts' ? 'one a line' : undefined)}
          defaultValue={write(value)}
          onInput={(event) => enter(event.currentTarget.value)}
        />
      )}
      {fault !== undefined && <small role="alert">{fault}</small>}
      <small id={field['aria-describedby']} class="muted">
        {Meaning}
      </small>
    </div>
  );
}

function SwitchField({ of: { Name, Meaning }, value, set, disabled }: FieldProps) {
  return (
    <div>
      <label class="check">
        <input
          type="checkbox"
          aria-describedby={`meaning-${Name}`}
          disabled={disabled}
          checked={value === true}
          onChange={(event) => set(event.currentTarget.checked)}
        />
        {Name.replaceAll('_', ' ')}
      </label>
      <small id={`meaning-${Name}`} class="muted">
        {Meaning}
      </small>
    </div>
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
  // `constructor` is an id, too.
  const title = Object.hasOwn(titles, id) ? titles[id] : undefined;
  return title === undefined ? `${short(id)} (no such item)` : short(title || id);
}

/** Fields that are better than what the form of their values tells. */
const FIELDS: Readonly<Record<string, typeof PinsField>> = { pins: PinsField, exclude: ExcludeField };
