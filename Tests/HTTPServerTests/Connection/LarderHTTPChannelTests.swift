import Logging
import NIOCore
import NIOEmbedded
import TestKit
import Testing

@testable import HTTPServer

@Suite("A connection that is handed to no one") struct LarderHTTPChannelTests {
    @Test("SRV-12 One that is accepted while the server stops does not end the process")
    func dropped() throws {
        let channel = EmbeddedChannel()
        let logger = Logger.quiet
        let server = LarderHTTPChannel(responder: { _, _, _ in }, problem: { _ in ("text/plain", []) })
        // What comes back is let go at once, as by a server that does not listen any more.
        _ = try server.setup(channel: channel, logger: logger).wait()
        // Before NIO learns that the connection is there, it keeps what it made itself.
        channel.pipeline.fireChannelActive()
        #expect(try channel.finish(acceptAlreadyClosed: true).isClean, "it is closed without a word")
    }
}
