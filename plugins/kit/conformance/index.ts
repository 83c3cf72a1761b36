/** The suites that every runner, channel, source and driver passes. Call one at the top of a `node:test` file. */

export { type ChannelConformance, type ChannelFixture, channelConformance } from './channel.ts'
export {
  type DriverConformance,
  type DriverSetup,
  driverConformance,
  driverTests,
  sharedDriverTests,
} from './driver.ts'
export { type RunnerConformance, type RunnerFixture, runnerConformance } from './runner.ts'
export {
  type SourceConformance,
  type SourceFixture,
  sourceConformance,
} from './source.ts'
export { type VendorConformance, vendorConformance } from './vendor.ts'
