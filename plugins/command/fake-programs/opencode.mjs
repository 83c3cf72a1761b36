/** A fake of `opencode run --format=json` 1.x with its flags, lines and refusals. */

import { randomBytes } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { fail, hasConversation, mode, parse, play, readPrompt, replyTo, say } from './stage.mjs'

const { values, positionals } = parse(
  process.argv.slice(2),
  {
    format: { type: 'string', default: 'default' },
    model: { type: 'string', short: 'm', default: 'its/default' },
    session: { type: 'string', short: 's' },
    variant: { type: 'string', default: 'its-default' },
  },
  { code: 1, allowPositionals: true },
)
if (positionals.join() !== 'run' || values.format !== 'json')
  fail('the fake program only runs and prints json')
if (!values.model.includes('/')) fail('models are provider/model')
if (realpathSync(process.env.PWD) !== realpathSync(process.cwd())) fail('it would work in another folder')
const { model, session, variant } = values
const prompt = readPrompt()
if (session !== undefined && !hasConversation(session)) fail('Error: Session not found')

const sessionID = session ?? `ses_${randomBytes(12).toString('hex')}`
const said = say(sessionID, prompt)
const print = (type, data) =>
  process.stdout.write(`${JSON.stringify({ type, timestamp: 1, sessionID, ...data })}\n`)
print('step_start', { part: { type: 'step-start' } })
await play()
if (mode === 'fail') {
  print('error', { error: { name: 'APIError', data: { message: 'Rate limited', statusCode: 429 } } })
  process.exit(1)
}
const tokens = { input: 3, output: 1, reasoning: 1, cache: { read: 2, write: 1 } }
print('tool_use', { part: { type: 'tool', tool: 'read', state: { status: 'completed' } } })
print('step_finish', { part: { type: 'step-finish', reason: 'tool-calls', tokens } })
const text = replyTo({ model, thinking: variant, turn: said.length }, prompt)
print('text', { part: { type: 'text', text } })
print('step_finish', { part: { type: 'step-finish', reason: 'stop', tokens } })
