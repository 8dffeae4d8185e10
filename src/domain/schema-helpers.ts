import Type, { type TLiteral, type TObject, type TProperties, type TUnion } from 'typebox';

/** An object with a title of its own in the OpenAPI document. */
export function named<Fields extends TProperties>(title: string, fields: Fields): TObject<Fields> {
  return Type.Object(fields, { title });
}

/** One of these texts. */
export function oneOf<const Texts extends string[]>(
  ...texts: Texts
): TUnion<{ [At in keyof Texts]: TLiteral<Texts[At]> }> {
  return Type.Union(texts.map((text) => Type.Literal(text))) as never;
}

/* Plain values, with what they mean where the name does not tell. */
export const text = (description?: string) => Type.String(meaning(description));
export const flag = (description?: string) => Type.Boolean(meaning(description));
export const number = (description?: string) => Type.Number(meaning(description));
export const integer = (description?: string) => Type.Integer(meaning(description));
export const time = text('RFC 3339 UTC');
/** A whole number from 0. */
export const count = (description?: string) => Type.Integer({ minimum: 0, ...meaning(description) });

function meaning(description: string | undefined): { readonly description?: string } {
  return description === undefined ? {} : { description };
}
