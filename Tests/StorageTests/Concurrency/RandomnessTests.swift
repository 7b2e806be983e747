import Concurrency
import Testing

@Suite struct RandomnessTests {
    private static func drawn(_ randomness: Randomness?) -> [UInt64] {
        Randomness.$current.withValue(randomness) { (0..<4).map { _ in Randomness.number(for: "a") } }
    }

    @Test("One seed draws one sequence, also again from its beginning; another seed, and none, draw others")
    func sequence() {
        let seeded = Randomness(seed: 7)
        let first = Self.drawn(seeded)
        #expect(Set(first).count == 4)
        #expect(Self.drawn(seeded) != first)
        seeded.reset()
        #expect(Self.drawn(seeded) == first)
        #expect(Self.drawn(Randomness(seed: 8)) != first)
        #expect(Self.drawn(nil) != first && Self.drawn(nil) != Self.drawn(nil))
    }

    @Test("The numbers of one purpose do not depend on those of another; tasks draw from the sequence of their server")
    func purposes() async {
        let alone = Randomness.$current.withValue(Randomness(seed: 7)) { Randomness.bytes(33, for: "a") }
        #expect(alone.count == 33)
        let beside = await Randomness.$current.withValue(Randomness(seed: 7)) {
            _ = Randomness.fraction(for: "b")
            return await Task { Randomness.bytes(33, for: "a") }.value
        }
        #expect(beside == alone)
    }
}
