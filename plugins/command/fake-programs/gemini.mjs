/** A fake of a headless `gemini` with its flags, JSON and refusals. */

import { randomUUID } from 'node:crypto'
import { fail, hasConversation, mode, parse, play, readPrompt, replyTo, say } from './stage.mjs'

const { values } = parse(
  process.argv.slice(2),
  {
    'output-format': { type: 'string', short: 'o', default: 'text' },
    model: { type: 'string', short: 'm', default: 'its-default' },
    resume: { type: 'string', short: 'r' },
  },
  { code: 1 },
)
if (values['output-format'] !== 'json') fail('the fake program only prints json')
const { model, resume } = values
const prompt = readPrompt()
if (resume !== undefined && !hasConversation(resume))
  fail(`Error resuming session: Invalid session identifier "${resume}".\n  Use --list-sessions.`, 42)

const session_id = resume ?? randomUUID()
const said = say(session_id, prompt)
process.stdout.write('Loaded cached credentials.\n')
await play()
if (mode === 'fail')
  fail(JSON.stringify({ session_id, error: { type: 'Error', message: 'quota', code: 1 } }, null, 2))
const tokens = { prompt: 12, candidates: 3, total: 17, cached: 3, thoughts: 2, tool: 0 }
const stats = {
  models: { [model]: { tokens }, 'its/router~model': { tokens: { prompt: 0, candidates: 0 } } },
}
const response = replyTo({ model, turn: said.length }, prompt)
process.stdout.write(`${JSON.stringify({ session_id, response, stats }, null, 2)}\n`)
