/** The observer `otel` exports what the gateway does as OpenTelemetry traces. */

import { definePlugin } from '@reveille/kit'
import { createOtelObserver, type OtelConfig } from './observer.ts'

export default definePlugin<OtelConfig>({
  name: 'otel',
  setup({ config, log }) {
    const { observer, close } = createOtelObserver(config, log)
    return { observers: [observer], close }
  },
})
