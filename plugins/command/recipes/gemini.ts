/**
 * Calls Gemini CLI. The recipe was written from the source and not tried: `packages/cli/src/nonInteractiveCli.ts`, `utils/sessionUtils.ts` and
 * `packages/core/src/output` of google-gemini/gemini-cli, and https://geminicli.com/docs/cli/headless/.
 *
 * - Without a terminal it is headless and takes the prompt from standard input. `json` is one object over many lines:
 *   `session_id` (since December 2025; without it no conversation is continued), `response`, `stats`, `error`.
 * - `--resume=<uuid>` finds conversations of the same folder; else "Invalid session identifier" or "No previous
 *   sessions found", code 42. Other codes: 1 failure, 53 turn limit, 55 folder not trusted (`--skip-trust`).
 * - Tokens are under the names of the models, those of thinking apart from those of the answer.
 * - No flags for thinking and system prompt: the one is a setting of its own, the other goes before the first prompt.
 * - A prompt is searched for `@file` and for a leading `/command`.
 */

import type { Recipe } from '../configuration.ts'

export const gemini: Recipe = {
  command: 'gemini',
  args: ['--output-format=json', '--model={modelName}'],
  resume: ['--resume={session}'],
  output: {
    format: 'json',
    text: '/response',
    session: '/session_id',
    error: '/error',
    usage: {
      input: '/stats/models/*/tokens/prompt',
      output: ['/stats/models/*/tokens/candidates', '/stats/models/*/tokens/thoughts'],
      cached: '/stats/models/*/tokens/cached',
      reasoning: '/stats/models/*/tokens/thoughts',
    },
  },
  session: 'theirs',
  lost: ['invalid session identifier', 'no previous sessions found'],
  modelPattern: '(google/)?[A-Za-z0-9][A-Za-z0-9._-]*',
}
