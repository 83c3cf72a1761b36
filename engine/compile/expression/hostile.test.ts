import { testHostile } from './hostile.ts'

testHostile(65_536, 250, 5)
