import Testing

@testable import TestKit

@Suite(.timeLimit(.minutes(10))) struct BoundedWaitTests {
    @Test("A test that waits in vain fails, and says for what")
    func inVain() async {
        await withKnownIssue {
            await BoundedWait.run(for: "what never happens", at: #_sourceLocation, steps: 1) {
                await Gate().pass()
                return false
            }
        } matching: {
            $0.comments.map(\.rawValue) == ["waited in vain for what never happens"]
        }
    }

    @Test("A wait ends as soon as it happens")
    func happens() async {
        let value = Watched(0)
        async let wait: Void = value.until { $0 == 1 }
        value.update { $0 = 1 }
        await wait
        await value.until { $0 == 1 }
    }
}
