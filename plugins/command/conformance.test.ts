import { runnerConformance } from '@reveille/kit/conformance'
import { createStandIn } from './stand-in-fixture.ts'

const secret = 'sk-a-key-of-the-program'

runnerConformance({
  name: 'the command runner conforms',
  plugin: new URL('./index.ts', import.meta.url),
  secrets: [secret],
  async create() {
    const standIn = await createStandIn('claude', { env: { ANTHROPIC_API_KEY: secret } })
    return {
      runner: standIn.runner,
      stall: () => standIn.play('hang'),
      fail: () => standIn.play('fail'),
      close: standIn.close,
    }
  },
})
