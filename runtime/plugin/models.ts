/** Owns whether the default runner can take the models that it is going to be asked for. */

import type { Settings } from '@reveille/engine'
import { askAboutModel } from './handle.ts'
import type { Instance } from './instance.ts'
import { PluginSetupError } from './setup-error.ts'

/** A model that may be asked for and that the default runner cannot take: others may be there for it. */
export interface RefusedModel {
  readonly model: string
  /** In the runner's words. */
  readonly reason: string
}

/**
 * The default model goes to the default runner with every heartbeat, so that one has to fit.
 * @throws PluginSetupError `PLUGIN_CONFIG`, or `PLUGIN_SETUP` where the runner cannot say
 */
export function checkModels(
  defaults: Pick<Settings['agents']['defaults'], 'runner' | 'model' | 'models'>,
  instance: Instance,
): readonly RefusedModel[] {
  const { model, models, runner } = defaults
  const plugin = instance.specification.package.name

  function ask(asked: string, key: string): string | undefined {
    try {
      return askAboutModel(instance, asked)
    } catch (cause) {
      const problem = { key, message: `cannot be checked by the runner ${runner}` }
      throw new PluginSetupError('PLUGIN_SETUP', plugin, [problem], { cause })
    }
  }

  const key = 'agents.defaults.model'
  const reason = model === undefined ? undefined : ask(model, key)
  if (reason !== undefined) {
    const message = `cannot be taken by the runner ${runner}: ${reason.replace(/\.$/, '')}`
    throw new PluginSetupError('PLUGIN_CONFIG', plugin, [{ key, message }])
  }
  const others = (models?.allowed ?? []).filter((each) => each !== model)
  return others.flatMap((each) => {
    const refusal = ask(each, 'agents.defaults.models')
    return refusal === undefined ? [] : [{ model: each, reason: refusal }]
  })
}
