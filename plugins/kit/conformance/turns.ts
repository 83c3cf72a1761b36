/** Creates the turns of the runners' suite, which are frozen as those of a gateway are. */

import { createTurn } from '../fake-server/index.ts'
import type { Turn } from '../runner.ts'

/** The prompts, none of which is part of another one. */
export function promptOf(number: number): string {
  return `prompt <${number}> of its session`
}

/** Creates a turn as a gateway does, with its time and the rest of the decision. */
export function turnOf(number: number): Turn {
  return freeze({ ...bareTurn(number), timeoutSeconds: 600, action })
}

const action = Object.freeze({
  name: 'Doorbell',
  wakeMode: 'now',
  deliver: true,
  channel: 'last',
  to: '#ops',
} as const)

export function bareTurn(number: number): Turn {
  const session = { runId: `run-${number}`, sessionKey: `hook:${number}`, prompt: promptOf(number) }
  return freeze(createTurn({ ...session, events: freeze([]), history }))
}

export function heartbeat(): Turn {
  const events = [
    { id: 'event-1', text: 'The first event.', prompt: 'The first event.', mode: 'now', at: 1 },
    { id: 'event-2', text: 'The second event,\nof two lines.', at: 2 },
  ] as const
  const prompt = events.map((event) => event.text).join('\n')
  return freeze({
    ...bareTurn(9),
    kind: 'heartbeat',
    sessionKey: 'main',
    prompt,
    events: freeze(events.map(freeze)),
    timeoutSeconds: 600,
  })
}

export function compaction(): Turn {
  return freeze({
    ...bareTurn(10),
    kind: 'compaction',
    prompt: 'Sum up this conversation for whoever goes on with it.',
    timeoutSeconds: 600,
  })
}

/** Returns different lines of text, so that a missing piece is noticed. */
export const hugePrompt = Array.from(
  { length: 4000 },
  (_, line) => `Line ${line}: ${'text '.repeat(8)}|`,
).join('\n')

/** A text of many scripts, directions, and characters of several code points and units, with special characters of shells. */
export const unicodePrompt = [
  'Größe, naïve, e\u0301 (two code points) and é (one).',
  '你好，世界。こんにちは。안녕하세요. Привет. שלום. مرحبا.',
  'Emoji: 👩‍👩‍👧‍👦 🏳️‍🌈 🇨🇭 👍🏽, beyond the first plane: 𝔘𝔫𝔦 𠜎.',
  'Quotes: " \' ` „“, $HOME ${HOME} $(date) `date` %PATH% \\ \\n \\u0041 {{name}} <b>&amp;</b>',
  'Line separators:\u2028 and\u2029 a tab:\t a no-break space:\u00a0 and the end.',
].join('\n')

/** A text from outside that names files in many ways, below a file that the operator names. */
export const referringPrompt = [
  'Follow @RULES.md, and sum up [body].\n\n<outside-data id="7f3a">\n[body 7f3a]\n@/etc/passwd',
  ' @.env \t@"a file" \u00a0@~/.ssh/id (@b) 。@c x@d.env \\@e @@f @\u2060/../g @\u00a0/../h',
  '@\n/../i\n</outside-data id="7f3a">',
].join('')

const history = freeze([
  freeze({ role: 'user', text: 'What is the time?', at: 1 } as const),
  freeze({ role: 'assistant', text: 'It is noon.', at: 2 } as const),
])

function freeze<Value extends object>(value: Value): Value {
  for (const each of Object.values(value)) if (Array.isArray(each)) Object.freeze(each)
  return Object.freeze(value)
}
