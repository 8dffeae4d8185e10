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
