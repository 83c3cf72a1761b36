/**
 * Calls OpenCode. The recipe was written from the source and not tried: `packages/opencode/src/cli/cmd/run.ts` and `packages/cli/src/mini` of
 * anomalyco/opencode (1.x), and https://opencode.ai/docs/cli.
 *
 * - `run` joins its arguments and standard input to one message. It works in the folder that `PWD` names.
 * - `--format=json` prints a line for each finished part, all with `sessionID`: `text`, `tool_use`, `step_finish`. An
 *   `error` line comes with code 1; its reason is in `error.data.message` or `error.message`.
 * - `--session=<id>` continues a conversation; else "Session not found", code 1.
 * - Each step counts its tokens: input without the cache, output without thinking.
 * - Models are `<provider>/<model>` as here; `--variant` is their word for thinking, its levels differ by model.
 * - Permissions that no one can grant are rejected.
 */

import type { Recipe } from '../configuration.ts'

export const opencode: Recipe = {
  command: 'opencode',
  args: ['run', '--format=json', '--model={model}'],
  resume: ['--session={session}'],
  thinking: {
    minimal: ['--variant=minimal'],
    low: ['--variant=low'],
    medium: ['--variant=medium'],
    high: ['--variant=high'],
    xhigh: ['--variant=xhigh'],
  },
  output: {
    format: 'jsonl',
    text: { match: { '/type': 'text' }, at: '/part/text' },
    session: '/sessionID',
    error: { match: { '/type': 'error' }, at: '/error' },
    usage: {
      match: { '/type': 'step_finish' },
      input: ['/part/tokens/input', '/part/tokens/cache/read', '/part/tokens/cache/write'],
      output: ['/part/tokens/output', '/part/tokens/reasoning'],
      cached: '/part/tokens/cache/read',
      reasoning: '/part/tokens/reasoning',
    },
    progress: [
      { match: { '/type': 'text' }, text: '/part/text' },
      { match: { '/type': 'tool_use' }, note: 'used {/part/tool}' },
    ],
  },
  session: 'theirs',
  lost: ['session not found'],
  modelPattern: '[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._:/@-]*',
}
