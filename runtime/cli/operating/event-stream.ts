/** Reads the server-sent events of a gateway: https://html.spec.whatwg.org/multipage/server-sent-events.html */

export interface StreamEvent {
  /** Default: `message`. */
  readonly event: string
  readonly data: string
  /** The id of this event, or of the last one that had an id. */
  readonly id: string | undefined
}

/** The longest event. A gateway's frames are far shorter; a server that is none must not fill the memory. UTF-16 units. */
const longestEvent = 8_388_608

/** @throws Error if an event does not end within {@link longestEvent}; whatever the body throws */
export async function* readEventStream(body: AsyncIterable<Uint8Array>): AsyncGenerator<StreamEvent> {
  const decoder = new TextDecoder()
  let rest = ''
  let id: string | undefined
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true })
    const blocks = rest.split(/\r\n\r\n|\n\n|\r\r/)
    rest = blocks.pop() as string
    if (rest.length > longestEvent) throw new Error('an event of the stream does not end')
    for (const block of blocks) {
      const read = readBlock(block, id)
      id = read.id
      // A block of comments alone keeps the connection alive.
      if (read.data !== undefined) yield { event: read.event, data: read.data, id }
    }
  }
}

function readBlock(block: string, before: string | undefined) {
  let event = 'message'
  let id = before
  let data: string | undefined
  for (const line of block.split(/\r\n|\n|\r/)) {
    const [name = '', ...rest] = line.split(':')
    const value = rest.join(':').replace(/^ /, '')
    if (name === 'event') event = value
    else if (name === 'id') id = value
    else if (name === 'data') data = data === undefined ? value : `${data}\n${value}`
  }
  return { event, id, data }
}
