/** Owns where long JSON can be cut into pieces, each short enough to be read at once. */

/** A list or an object that is longer than a piece. */
export interface Container {
  /** The places of its brackets. */
  readonly open: number
  readonly close: number
  /** In order, from bracket to bracket. */
  readonly segments: readonly Segment[]
}

/** Some members, without the commas before and behind them; a long one stands alone. */
export interface Segment {
  readonly start: number
  readonly end: number
  readonly long?: Container
}

export interface Splitting {
  /** Goes on for so many characters; true when the end of the text has come. */
  advance(characters: number): boolean
  /**
   * The outermost long container; nothing where there is none. Whether the pieces are JSON is for their reader to say.
   * @throws SyntaxError for brackets or quotation marks that do not pair
   */
  result(): Container | undefined
}

/** Whoever reads the result goes down as deep. */
const mostLevels = 1000

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c

/** `piece`: how long one may be. */
export function splitJson(text: string, piece: number): Splitting {
  let at = 0
  let depth = -1
  let inString = false
  let outermost: Container | undefined
  // Of the containers that are open, by depth. No objects: a megabyte may open half a million of them.
  const opens: number[] = []
  const commas: number[] = []
  /** Behind the last cut. */
  const starts: number[] = []
  const cuts: (Segment[] | undefined)[] = []
  /** The long member that the next comma ends. */
  const longs: (Container | undefined)[] = []

  function cut(level: number, end: number): void {
    const start = starts[level] ?? 0
    const long = longs[level]
    cuts[level] ??= []
    cuts[level]?.push(long === undefined ? { start, end } : { start, end, long })
    starts[level] = end + 1
    longs[level] = undefined
  }

  function closeLong(level: number, open: number, close: number): void {
    cut(level, close)
    const container = { open, close, segments: cuts[level] ?? [] }
    const outer = level - 1
    if (outer < 0) {
      outermost = container
      return
    }
    const last = commas[outer] ?? 0
    if (last >= (starts[outer] ?? 0)) cut(outer, last)
    longs[outer] = container
  }

  function advance(characters: number): boolean {
    const end = Math.min(text.length, at + characters)
    let index = at
    for (; index < end; index++) {
      const unit = text.charCodeAt(index)
      if (inString) {
        if (unit === backslash) index += 1
        else if (unit === quote) inString = false
      } else if (unit === quote) inString = true
      // `[` 0x5b, `{` 0x7b, `]` 0x5d and `}` 0x7d differ in one bit from their like.
      else if ((unit | 0x20) === 0x7b) {
        depth += 1
        if (depth >= mostLevels) throw new RangeError('the text is nested too deeply')
        opens[depth] = index
        commas[depth] = index
        starts[depth] = index + 1
        cuts[depth] = undefined
        longs[depth] = undefined
      } else if ((unit | 0x20) === 0x7d) {
        const open = opens[depth]
        if (open === undefined) throw new SyntaxError('a bracket closes nothing')
        if (index - open > piece) closeLong(depth, open, index)
        depth -= 1
      } else if (unit === comma && depth >= 0) {
        commas[depth] = index
        if (longs[depth] !== undefined || index - (starts[depth] ?? 0) >= piece) cut(depth, index)
      }
    }
    at = index
    return at >= text.length
  }

  return {
    advance,
    result() {
      if (inString || depth >= 0) throw new SyntaxError('the text ends too early')
      return outermost
    },
  }
}
