/**
 * Lists requests that two servers may read differently: one sees the end of a body where another sees a request. The
 * shapes are those of RFC 9112, 11.2, and of
 * https://portswigger.net/research/http-desync-attacks-request-smuggling-reborn.
 */

export interface Shape {
  readonly name: string
  readonly bytes: string
  /** The statuses of all answers, in order. */
  readonly statuses: readonly number[]
  /** How many requests the records have; the hidden one is never among them. Default: none. */
  readonly seen?: number
}

/** The text of the visible request. The hidden one has another. */
export const seenText = 'smuggling-seen'
const hiddenText = 'smuggling-hidden'

export function shapesOf(token: string): Shape[] {
  const rest = `Host: x\r\nAuthorization: Bearer ${token}\r\n`
  const head = `POST /hooks/wake HTTP/1.1\r\n${rest}`
  const outsiders = 'POST /hooks/wake HTTP/1.1\r\nHost: x\r\n'
  const old = head.replace('1.1', '1.0')
  const body = JSON.stringify({ text: seenText, mode: 'next-heartbeat' })
  const size = body.length
  const hex = size.toString(16)
  const hiddenBody = JSON.stringify({ text: hiddenText, mode: 'next-heartbeat' })
  const hidden = `${head}Content-Length: ${hiddenBody.length}\r\n\r\n${hiddenBody}`
  const chunks = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`
  const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n`
  const sized = `Content-Length: ${size}\r\n\r\n${body}`
  const around = (text: string) => `Content-Length: ${text.length}\r\n\r\n${text}`

  const answered = (status: number, name: string, bytes: string): Shape => ({
    name,
    bytes,
    statuses: [status],
  })
  const refused = (name: string, bytes: string) => answered(400, name, bytes)
  const one = (name: string, bytes: string): Shape => ({ name, bytes, statuses: [200], seen: 1 })
  const closed = (name: string, bytes: string): Shape => ({ name, bytes, statuses: [] })
  const withLength = (name: string, length: string) =>
    refused(name, `${head}Content-Length: ${length}\r\n\r\n${body}${hidden}`)
  const withEncoding = (name: string, line: string) =>
    refused(name, `${head}${line}\r\n\r\n${chunks(body)}${hidden}`)
  const withChunks = (name: string, bytes: string) => refused(name, `${chunked}${bytes}${hidden}`)

  return [
    refused(
      'a length and chunks, the length longer',
      `${head}Content-Length: ${chunks(body).length + hidden.length}\r\nTransfer-Encoding: chunked\r\n\r\n${chunks(body)}${hidden}`,
    ),
    refused(
      'chunks and a length, the length shorter',
      `${head}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n${chunks(body)}${hidden}`,
    ),
    refused('the same host twice', `${head}HOST: x\r\n${sized}`),
    refused('the same length twice', `${head}Content-Length: ${size}\r\n${sized}${hidden}`),
    refused('two lengths', `${head}Content-Length: ${size + hidden.length}\r\n${sized}${hidden}`),
    withLength('a list of lengths', `${size}, ${size}`),
    withLength('a length with a plus', `+${size}`),
    withLength('a length below nothing', `-${size}`),
    withLength('a length with a space in it', `${String(size)[0]} ${String(size).slice(1)}`),
    withLength('a length in hexadecimal', `0x${hex}`),
    withLength('a length with a fraction', `${size}.0`),
    withLength('a length with a comma behind it', `${size},`),
    withLength('a length that no number holds', '9'.repeat(30)),
    withLength('a length that 64 bits take for another', String(2n ** 64n + BigInt(size))),
    withLength('a length that is empty', ''),
    one('a length between spaces', `${head}Content-Length:   ${size}  \r\n\r\n${body}`),
    one('a length with zeros before it', `${head}Content-Length: 000${size}\r\n\r\n${body}`),
    answered(413, 'a length that is too large', `${head}Content-Length: 99999999\r\n\r\n${hidden}`),

    refused('a folded length', `${head}Content-Length:\r\n ${size}\r\n\r\n${body}`),
    refused('a folded value', `${head}X-Any: a\r\n b\r\n${sized}`),
    refused('a folded encoding', `${head}Transfer-Encoding:\r\n chunked\r\n\r\n${chunks(body)}`),
    refused('a first header that is folded', `POST /hooks/wake HTTP/1.1\r\n ${rest}${sized}`),
    refused('a space before the colon of a length', `${head}Content-Length : ${size}\r\n\r\n${body}`),
    refused(
      'a space before the colon of an encoding',
      `${head}Transfer-Encoding : chunked\r\n${sized}${hidden}`,
    ),
    refused('a line that ends with a bare LF', `${head}X-Any: a\n${sized}`),
    refused('lines that all end with a bare LF', `${head}${sized}`.replaceAll('\r\n', '\n')),
    refused('a head that ends with a bare LF', `${head}Content-Length: ${size}\r\n\n${body}`),
    refused('a bare CR in a value', `${head}X-Any: a\rContent-Length: 0\r\n${sized}`),
    refused('a NUL in a value', `${head}X-Any: a\0b\r\n${sized}`),
    refused('a NUL in a name', `${head}X-Any\0: a\r\n${sized}`),
    refused('a header without a name', `${head}: a\r\n${sized}`),
    refused('a name with a byte that none may have', `${head}Content-Length\x85: ${size}\r\n\r\n${body}`),
    one('an encoding whose name has an underscore', `${head}Transfer_Encoding: chunked\r\n${sized}`),

    withEncoding('chunks, then identity', 'Transfer-Encoding: chunked, identity'),
    withEncoding('an encoding that nobody knows', 'Transfer-Encoding: xchunked'),
    withEncoding('identity alone', 'Transfer-Encoding: identity'),
    refused('identity and a length', `${head}Transfer-Encoding: identity\r\n${sized}${hidden}`),
    refused('an empty encoding and a length', `${head}Transfer-Encoding: \r\n${sized}${hidden}`),
    withEncoding('a vertical tab before chunked', 'Transfer-Encoding: \x0bchunked'),
    withEncoding('a tab behind chunked', 'Transfer-Encoding: chunked\t'),
    withEncoding('chunked in quotation marks', 'Transfer-Encoding: "chunked"'),
    withEncoding('chunked with a parameter', 'Transfer-Encoding: chunked;a=b'),
    withEncoding('chunked twice', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked'),
    withEncoding('chunked twice in a list', 'Transfer-Encoding: chunked, chunked'),
    withEncoding(
      'chunked, and identity in a second line',
      'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
    ),
    withEncoding('identity, then chunked', 'Transfer-Encoding: identity, chunked'),
    withEncoding(
      'identity, and chunked in a second line',
      'Transfer-Encoding: identity\r\nTransfer-Encoding: chunked',
    ),
    withEncoding('a comma before chunked', 'Transfer-Encoding: ,chunked'),
    withEncoding('an encoding that is not decoded', 'Transfer-Encoding: gzip, chunked'),
    one('chunked in capitals', `${head}Transfer-Encoding: CHUNKED\r\n\r\n${chunks(body)}`),
    one('a tab before chunked', `${head}Transfer-Encoding:\tchunked\r\n\r\n${chunks(body)}`),
    refused(
      'chunks of HTTP/1.0, which knows none',
      `${old}Transfer-Encoding: chunked\r\n\r\n${chunks(body)}${hidden}`,
    ),

    withChunks('a size that no number holds', `1000000000000000${hex}\r\n${body}\r\n0\r\n\r\n`),
    withChunks('a size below nothing', `-${hex}\r\n${body}\r\n0\r\n\r\n`),
    withChunks('a size with a plus', `+${hex}\r\n${body}\r\n0\r\n\r\n`),
    withChunks('a size with 0x', `0x${hex}\r\n${body}\r\n0\r\n\r\n`),
    withChunks('a size with a space behind it', `${hex} \r\n${body}\r\n0\r\n\r\n`),
    withChunks('a size with a space before it', ` ${hex}\r\n${body}\r\n0\r\n\r\n`),
    withChunks('no size', `\r\n${body}\r\n0\r\n\r\n`),
    withChunks('a chunk that ends too late', `${(size - 1).toString(16)}\r\n${body}\r\n0\r\n\r\n`),
    withChunks('a chunk without its end', `${hex}\r\n${body}0\r\n\r\n`),
    withChunks('a size that ends with a bare LF', `${hex}\n${body}\r\n0\r\n\r\n`),
    withChunks('a chunk that ends with a bare LF', `${hex}\r\n${body}\n0\r\n\r\n`),
    withChunks('chunks whose lines all end with a bare LF', `${hex}\n${body}\n0\n\n`),
    withChunks('an extension that ends with a bare LF', `${hex};a=b\n${body}\r\n0\r\n\r\n`),
    withChunks('an extension with a bare CR', `${hex};a\rb\r\n${body}\r\n0\r\n\r\n`),
    withChunks('an extension with a line in quotation marks', `${hex};a="\r\n\r\n${body}\r\n0\r\n\r\n`),
    withChunks('a length among the trailers', `${hex}\r\n${body}\r\n0\r\nContent-Length: 5\r\n\r\n`),
    one('an extension', `${chunked}${hex};a=b\r\n${body}\r\n0\r\n\r\n`),
    one('a size with zeros before it', `${chunked}000000000000000000000${hex}\r\n${body}\r\n0\r\n\r\n`),
    one('a trailer', `${chunked}${hex}\r\n${body}\r\n0\r\nX-Any: a\r\n\r\n`),

    refused('a request in a body', `${head}${around(hidden)}`),
    refused('a request in a chunk', `${chunked}${chunks(hidden)}`),
    answered(401, 'a request in the body of an unauthenticated client', `${outsiders}${around(hidden)}`),
    answered(
      401,
      'a request in a chunk of an unauthenticated client',
      `${outsiders}Transfer-Encoding: chunked\r\n\r\n${chunks(hidden)}`,
    ),
    answered(200, 'a request in the body of a GET', `GET /healthz HTTP/1.1\r\nHost: x\r\n${around(hidden)}`),
    answered(
      405,
      'a request in the body of a GET to a hook',
      `GET /hooks/wake HTTP/1.1\r\n${rest}${around(hidden)}`,
    ),
    answered(405, 'a request in the body of a HEAD', `HEAD /hooks/wake HTTP/1.1\r\n${rest}${around(hidden)}`),
    one('a request behind the last one of a connection', `${head}Connection: close\r\n${sized}${hidden}`),
    one('a request behind one of HTTP/1.0', `${old}${sized}${hidden}`),
    {
      name: 'bytes that are no request behind one',
      bytes: `${head}${sized}nonsense\r\n\r\n`,
      statuses: [200, 400],
      seen: 1,
    },

    one(
      'an address with another host',
      `POST http://elsewhere.example/hooks/wake HTTP/1.1\r\n${rest}${sized}`,
    ),
    refused('two hosts', `${head}Host: elsewhere.example\r\n${sized}`),
    refused('no host', `POST /hooks/wake HTTP/1.1\r\nAuthorization: Bearer ${token}\r\n${sized}`),
    one('the wish for another protocol', `${head}Connection: Upgrade\r\nUpgrade: websocket\r\n${sized}`),
    refused(
      'the wish for HTTP/2 before a request in a body',
      `${head}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n${around(hidden)}`,
    ),
    closed('a tunnel', `CONNECT x:80 HTTP/1.1\r\n${rest}\r\n${hidden}`),
    closed('a tunnel to a hook', `CONNECT /hooks/wake HTTP/1.1\r\n${rest}\r\n${hidden}`),
    refused('no version', `POST /hooks/wake\r\n${hidden}`),
    refused('HTTP/0.9', `POST /hooks/wake HTTP/0.9\r\n${hidden}`),
    refused('HTTP/1.2', `${head.replace('1.1', '1.2')}${sized}`),
    refused('the preface of HTTP/2', `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${hidden}`),
    refused('a protocol in small letters', `${head.replace('HTTP', 'http')}${sized}`),
    refused('a tab in the request line', `${head.replace(' /', '\t/')}${sized}`),
    one('HTTP/1.0', `${old}${sized}`),
    one('empty lines before a request', `\r\n\r\n${head}${sized}`),
    one('an expectation', `${head}Expect: 100-continue\r\n${sized}`),
    answered(417, 'an expectation that nobody knows', `${head}Expect: anything\r\n${around(hidden)}`),
  ]
}
