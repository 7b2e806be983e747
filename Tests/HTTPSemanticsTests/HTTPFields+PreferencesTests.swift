import HTTPTypes
import Testing

@testable import HTTPSemantics

@Suite struct PreferencesTests {
    @Test(
        "The preference respond-async has no value and may be one of several",
        arguments: [
            "respond-async", "Respond-Async", "respond-async; x=1", "wait=10, respond-async", "respond-async=",
            #"respond-async="""#,
        ]
    )
    func preferred(line: String) {
        #expect(HTTPFields([.init(name: .prefer, value: line)]).prefersAsyncResponse)
    }

    @Test(
        "Another preference is not taken for it",
        arguments: [
            "", "=", ";", "respond-async=false", "respond-async=1", #"respond-async="x""#, "respond-asynchronously",
            #"x="respond-async""#, "x; respond-async", "wait=10",
        ]
    )
    func notPreferred(line: String) {
        #expect(!HTTPFields([.init(name: .prefer, value: line)]).prefersAsyncResponse)
    }
}
