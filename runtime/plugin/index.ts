/** The plugin host's public face. */

export {
  type ChannelOffer,
  type Examiner,
  type OfferedKey,
  offerOf,
  type TryOptions,
  tryChannel,
} from './commands/channel-offer.ts'
export { checkPlugins, examinePlugins } from './commands/check.ts'
export {
  type Connector,
  connectorOf,
  type StartedSource,
  type StartSourceOptions,
  startSource,
} from './commands/source-setup.ts'
export { checkAddresses } from './configuration/addresses.ts'
export {
  diagnosticsOf,
  located,
  type PluginProblem,
  PluginSetupError,
  type PluginSetupErrorCode,
} from './configuration/setup-error.ts'
export type { LiveSource } from './host/handles.ts'
export {
  createPluginHost,
  type PluginHost,
  type PluginHostOptions,
  type PreparedPlugins,
} from './host/host.ts'
