export { seededRandom } from '../../src/demo/random.ts'
