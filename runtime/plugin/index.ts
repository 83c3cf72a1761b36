/** The plugin host's public face. */

export {
  type ChannelOffer,
  type Examiner,
  type OfferedKey,
  offerOf,
  tryChannel,
} from './commands/channel-offer.ts'
export { checkPlugins, examinePlugins } from './commands/check.ts'
export {
  type Connector,
  connectorOf,
  type StartedSource,
  startSource,
} from './commands/source-setup.ts'
export { checkAddresses } from './configuration/addresses.ts'
export {
  diagnosticsOf,
  located,
  type PluginProblem,
  PluginSetupError,
} from './configuration/setup-error.ts'
export type { LiveSource } from './host/handles.ts'
export {
  createPluginHost,
  type PluginHost,
  type PluginHostOptions,
} from './host/host.ts'
