/** Owns reading Slack's own markup as a person does: `*bold* _italic_ ~strike~ <url|label>`, and three entities. */

/** Letters, figures and U+2060 are no edges: no mark begins behind them or ends before them. */
const noEdgeBefore = '(?<![\\p{L}\\p{N}\\u2060])'
const noEdgeAfter = '(?![\\p{L}\\p{N}\\u2060])'
const span = new RegExp(`${noEdgeBefore}\`([^\`]+)\`${noEdgeAfter}`, 'u')
const marks = new RegExp(`${noEdgeBefore}([*_~])(?=\\S)((?:(?!\\1).)+?)(?<=\\S)\\1${noEdgeAfter}`, 'gu')

export function readMrkdwn(source: string): string {
  // Every second piece is code.
  const pieces = source.split(/```\n?/)
  return pieces
    .map((piece, index) => (index % 2 === 1 ? readEntities(brackets(piece)) : readLines(piece)))
    .join('')
}

function readLines(text: string): string {
  return text.split('\n').map(readLine).join('\n')
}

function readLine(line: string): string {
  const pieces = line.replace(/^(?:>|&gt;) ?/, '').split(span)
  return pieces
    .map((piece, index) => readEntities(brackets(index % 2 === 1 ? piece : unmark(piece))))
    .join('')
}

/** Marks stand at the edges of words. What stands in brackets is no text. */
function unmark(text: string): string {
  const pieces = text.split(/(<[^<>]*>)/)
  let kept = pieces.map((piece, index) => (index % 2 === 1 ? `\ue000${index}\ue001` : piece)).join('')
  for (let before = ''; before !== kept; ) {
    before = kept
    kept = kept.replaceAll(marks, '$2')
  }
  return kept.replaceAll(/\ue000(\d+)\ue001/g, (_, index: string) => pieces[Number(index)] ?? '')
}

function brackets(text: string): string {
  return text.replaceAll(/<([^<>|]*)(?:\|([^<>]*))?>/g, (_, address: string, label: string | undefined) => {
    if (label !== undefined) return label
    return address.replace(/^!/, '@')
  })
}

function readEntities(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
}
