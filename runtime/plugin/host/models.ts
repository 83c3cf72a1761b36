/** Checks whether the default runner accepts the models that the configuration allows. */

import type { Settings } from '@reveille/engine'
import { PluginSetupError } from '../configuration/setup-error.ts'
import type { Instance } from '../instance/instance.ts'
import { askAboutModel } from './handles.ts'

/** A model that is allowed and that the default runner does not accept; another runner may be there for it. */
export interface RefusedModel {
  readonly model: string
  /** In the runner's words. */
  readonly reason: string
}

/**
 * Every heartbeat gives the default model to the default runner, so that this pair has to fit.
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
