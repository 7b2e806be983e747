import Testing

@testable import Screens

struct ServerEventTests {
    @Test("SRV-09 Events as they are written")
    func text() {
        let connectivity = ServerEvent.connectivity(upstream: "spacex", reachable: false, at: ten)
        #expect(
            ServerSentEvents.text(identity: "r-1", connectivity)
                == "id: r-1\nevent: connectivity\n"
                + "data: {\"upstream\":\"spacex\",\"reachable\":false,\"offline\":true,"
                + "\"at\":\"2026-01-05T10:00:00Z\"}\n\n"
        )
        let audience = ServerEvent.Audience.app("ships")
        let changed = ServerEvent.screenChanged(app: "ships", screen: "ships.list", revision: 8, audience: audience)
        #expect(
            changed.kind == "screen-changed" && changed.json == #"{"app":"ships","screen":"ships.list","revision":8}"#
        )
    }

    @Test("Nothing in a text can end the line or the string")
    func injection() {
        let event = ServerEvent(kind: "k", data: [("t", .text("a\"b\\c\r\n\nevent: x\u{2028}ä"))], audience: .everyone)
        #expect(event.json == #"{"t":"abcevent: x"}"#)
    }
}
