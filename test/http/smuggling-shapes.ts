/** A whole request, to be taken for one where its first bytes are read as the end of another. */
export const NEXT = 'GET /next HTTP/1.1\r\nHost: a\r\n\r\n';

type Shape = readonly [name: string, headers: string, rest: string];

/** Heads that two readers of a request could read differently, each with what follows it. */
export const UNSURE: readonly Shape[] = [
  ['CL.CL 0 first', `Content-Length: 0\r\nContent-Length: ${NEXT.length}\r\n`, NEXT],
  ['CL.CL 0 last', `Content-Length: ${NEXT.length}\r\nContent-Length: 0\r\n`, NEXT + NEXT],
  ['CL.CL equal', 'Content-Length: 3\r\nContent-Length: 3\r\n', `abc${NEXT}`],
  ['CL in a list', 'Content-Length: 3, 3\r\n', `abc${NEXT}`],
  ['CL signed', 'Content-Length: +3\r\n', `abc${NEXT}`],
  ['CL negative', 'Content-Length: -1\r\n', NEXT],
  ['CL hexadecimal', 'Content-Length: 0x3\r\n', `abc${NEXT}`],
  ['CL with a blank', 'Content-Length: 1 0\r\n', NEXT],
  ['CL of 2^64 + 3', 'Content-Length: 18446744073709551619\r\n', `abc${NEXT}`],
  ['CL.TE', 'Content-Length: 6\r\nTransfer-Encoding: chunked\r\n', `0\r\n\r\n${NEXT}`],
  ['TE.CL', 'Transfer-Encoding: chunked\r\nContent-Length: 6\r\n', `0\r\n\r\n${NEXT}`],
  [
    'TE.TE chunked first',
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n',
    `0\r\n\r\n${NEXT}`,
  ],
  ['TE.TE chunked last', 'Transfer-Encoding: x\r\nTransfer-Encoding: chunked\r\n', `0\r\n\r\n${NEXT}`],
  ['TE xchunked', 'Transfer-Encoding: xchunked\r\n', `0\r\n\r\n${NEXT}`],
  [
    'TE gzip and what is expected of the server',
    'Transfer-Encoding: gzip\r\nExpect: more\r\n',
    `0\r\n\r\n${NEXT}`,
  ],
  ['TE gzip', 'Transfer-Encoding: gzip\r\n', `0\r\n\r\n${NEXT}`],
  ['TE identity', 'Transfer-Encoding: identity\r\n', `0\r\n\r\n${NEXT}`],
  ['TE chunked, identity', 'Transfer-Encoding: chunked, identity\r\n', `0\r\n\r\n${NEXT}`],
  ['TE quoted', 'Transfer-Encoding: "chunked"\r\n', `0\r\n\r\n${NEXT}`],
  ['chunk size not hexadecimal', 'Transfer-Encoding: chunked\r\n', `zz\r\n${NEXT}`],
  ['chunk size with a sign', 'Transfer-Encoding: chunked\r\n', `+3\r\nabc\r\n0\r\n\r\n${NEXT}`],
  ['chunk size with 0x', 'Transfer-Encoding: chunked\r\n', `0x3\r\nabc\r\n0\r\n\r\n${NEXT}`],
  [
    'chunk size of 2^64 + 3',
    'Transfer-Encoding: chunked\r\n',
    `10000000000000003\r\nabc\r\n0\r\n\r\n${NEXT}`,
  ],
  ['chunk size of 2^32 + 3', 'Transfer-Encoding: chunked\r\n', `100000003\r\nabc\r\n0\r\n\r\n${NEXT}`],
  ['no chunk size', 'Transfer-Encoding: chunked\r\n', `\r\n\r\n${NEXT}`],
  ['chunk with another end', 'Transfer-Encoding: chunked\r\n', `3\r\nabcXX0\r\n\r\n${NEXT}`],
  ['last chunk with another end', 'Transfer-Encoding: chunked\r\n', `0\r\nXX${NEXT}`],
  ['bare LF in chunks', 'Transfer-Encoding: chunked\r\n', `3\nabc\n0\n\n${NEXT}`],
];

/** Heads that are no HTTP: nothing is answered to them but an error, and nothing that follows is heard. */
export const MALFORMED: readonly Shape[] = [
  ['blank before the colon of CL', 'Content-Length : 3\r\n', `abc${NEXT}`],
  ['blank before the colon of TE', 'Transfer-Encoding : chunked\r\n', `0\r\n\r\n${NEXT}`],
  ['tab before the colon', 'Transfer-Encoding\t: chunked\r\n', `0\r\n\r\n${NEXT}`],
  ['blank before the name', ' Content-Length: 3\r\n', `abc${NEXT}`],
  ['folded line', 'X: a\r\n Transfer-Encoding: chunked\r\n', `0\r\n\r\n${NEXT}`],
  ['folded TE', 'Transfer-Encoding:\r\n chunked\r\n', `0\r\n\r\n${NEXT}`],
  ['folded CL', 'Content-Length:\r\n 3\r\n', `abc${NEXT}`],
  ['bare LF', 'X: a\nTransfer-Encoding: chunked\r\n', `0\r\n\r\n${NEXT}`],
  ['bare CR', 'X: a\rTransfer-Encoding: chunked\r\n', `0\r\n\r\n${NEXT}`],
  ['CR CR LF', 'X: a\r\r\nContent-Length: 3\r\n', `abc${NEXT}`],
  ['NUL', 'X: a\0b\r\n', NEXT],
  ['TE behind a vertical tab', 'Transfer-Encoding: \x0bchunked\r\n', `0\r\n\r\n${NEXT}`],
  ['no colon', 'Content-Length 3\r\n', `abc${NEXT}`],
];

/** What the native engine hides of a GET, whose headers are not gone through: it takes longer than the answer. */
export const HIDDEN: readonly Shape[] = [
  ['two hosts', 'Host: b\r\n', NEXT],
  ['the host twice', 'host: a\r\n', NEXT],
  ['an empty host behind', 'Host:\r\n', NEXT],
  ['two hosts and what is expected of the server', 'Host: b\r\nExpect: more\r\n', NEXT],
  ['CL.CL empty first', `Content-Length:\r\nContent-Length: ${NEXT.length}\r\n`, NEXT + NEXT],
  ['TE.TE empty first', 'Transfer-Encoding:\r\nTransfer-Encoding: chunked\r\n', `0\r\n\r\n${NEXT}`],
];
