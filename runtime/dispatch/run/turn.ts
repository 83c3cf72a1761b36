/** Owns what a runner is told of a hook's run. */

import type { Message, Turn } from '@reveille/kit'
import type { RunRecord, Work } from '../../store/port.ts'

export function hookTurn(
  run: RunRecord,
  work: Work,
  facts: { readonly leftMs: number; readonly systemPrompt?: string; readonly history: readonly Message[] },
): Turn {
  const { name, wakeMode, deliver, channel, to } = run
  return {
    runId: run.id,
    sessionKey: run.sessionKey,
    kind: 'run',
    prompt: run.prompt,
    events: [],
    history: facts.history,
    model: run.model,
    thinking: run.thinking,
    systemPrompt: facts.systemPrompt,
    attempt: run.attempts.length,
    state: work.runnerState?.[run.runner],
    timeoutSeconds: Math.ceil(facts.leftMs / 1000),
    action: Object.freeze({ name, wakeMode, deliver, channel, to }),
  }
}
