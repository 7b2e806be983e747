import NIOCore
import NIOHPACK
import NIOHTTP1
import NIOHTTP2
import Testing

@testable import Server

@Suite("Requests and responses on streams of HTTP/2")
struct HTTP2StreamHandlerTests {
    @Test("SRV-14 a stream is a request in the terms of HTTP/1.1, and its response has no fields of a connection")
    func exchange() throws {
        let connection = try EmbeddedHTTP2()
        let fields = [("accept", "*/*"), ("cookie", "a=b"), ("te", "trailers"), ("cookie", "c=d")]
        let stream = connection.request("/a?b", fields)
        let application = try #require(connection.streams.first).application
        #expect(application.heads.first?.uri == "/a?b" && application.ends == 1)
        #expect(application.heads.first?.headers == ["host": "a", "accept": "*/*", "cookie": "a=b; c=d"])
        application.respond("hello", headers: ["Content-Length": "5", "Connection": "x", "X": "1", "Keep-Alive": "2"])
        let expected = StreamResponse(heads: [[":status: 200", "content-length: 5"]], body: "hello", isEnded: true)
        #expect(connection.response(on: stream) == expected)
        // The stream has ended: nothing of it is left to wait for.
        #expect(try #require(connection.streams.first).channel.isActive == false)
    }

    @Test("Streams are independent: a response does not wait for the one before it")
    func independent() throws {
        let connection = try EmbeddedHTTP2()
        let streams = [connection.request("/slow"), connection.request("/fast")]
        connection.streams[1].application.respond("fast")
        #expect(connection.response(on: streams[1]).isEnded)
        #expect(connection.response(on: streams[0]).heads.isEmpty)
        connection.streams[0].application.respond("slow")
        #expect(connection.response(on: streams[0]).body == "slow")
    }

    @Test("Responses without a body end with their head", arguments: [("HEAD", 200), ("GET", 204), ("GET", 304)])
    func empty(_ method: String, _ status: Int) throws {
        let connection = try EmbeddedHTTP2()
        let stream = connection.request(method: method)
        let application = connection.streams[0].application
        application.begin(status: .custom(code: 103, reasonPhrase: "Early Hints"), headers: [:])
        let headers: HTTPHeaders = status == 204 ? [:] : ["Content-Length": "5"]
        application.respond("", status: HTTPResponseStatus(statusCode: status), headers: headers)
        let fields = headers.map { "\($0.name.lowercased()): \($0.value)" }
        let expected = StreamResponse(heads: [[":status: 103"], [":status: \(status)"] + fields], isEnded: true)
        #expect(connection.response(on: stream) == expected)
    }

    @Test("A body arrives in parts, with or without its length; trailers end it")
    func body() throws {
        let connection = try EmbeddedHTTP2()
        let stream = connection.request(method: "DELETE", endStream: false)
        let application = connection.streams[0].application
        #expect(application.heads.first?.headers["transfer-encoding"] == ["chunked"])
        connection.send(stream, "ab", endStream: false)
        connection.send(stream, "c", endStream: false)
        #expect(application.body == "abc" && application.ends == 0)
        connection.send(stream, .headers(.init(headers: ["x": "y"], endStream: true)))
        #expect(application.ends == 1)
        application.respond("done")
        #expect(connection.response(on: stream).body == "done")
    }

    @Test("A client that waits for 100 Continue gets it when the body is wanted")
    func expectation() throws {
        let connection = try EmbeddedHTTP2()
        let fields = [("expect", "100-continue"), ("content-length", "3")]
        let stream = connection.request(method: "POST", fields, endStream: false)
        #expect(connection.response(on: stream).heads.isEmpty)
        connection.streams[0].channel.triggerUserOutboundEvent(BodyDemand(), promise: nil)
        #expect(connection.response(on: stream).heads == [[":status: 100"]])
        connection.send(stream, "abc", endStream: true)
        connection.streams[0].application.respond("done")
        #expect(connection.response(on: stream).status == ":status: 200")
    }

    @Test("SRV-14 a client whose response is complete is told to send no more of its request")
    func early() throws {
        let connection = try EmbeddedHTTP2()
        let stream = connection.request(method: "POST", endStream: false)
        connection.send(stream, "ab", endStream: false)
        connection.streams[0].application.respond("no", status: .unauthorized)
        let response = connection.response(on: stream)
        #expect(response.status == ":status: 401" && response.body == "no" && response.isEnded)
        #expect(response.reset == .noError)
        // Others go on.
        let other = connection.request()
        connection.streams[1].application.respond("yes")
        #expect(connection.response(on: other).body == "yes")
    }

    @Test("SRV-14 a client that resets a stream has left: its work ends, and nothing else")
    func reset() throws {
        let connection = try EmbeddedHTTP2()
        let streams = [connection.request("/work"), connection.request("/other")]
        connection.streams[0].beginWork()
        connection.streams[1].beginWork()
        connection.send(streams[0], .rstStream(.cancel))
        #expect(connection.streams[0].hasLeft && !connection.streams[1].hasLeft)
        #expect(connection.streams[0].channel.isActive == false)
        connection.streams[1].application.respond("there")
        #expect(connection.response(on: streams[1]).body == "there")
    }

    @Test(
        "SRV-14 the rules of heads hold on streams",
        arguments: [
            ("/" + String(repeating: "a", count: 9000), [], "414"),
            // The same field again and again, of which the table of the connection makes one byte each.
            ("/", Array(repeating: ("x", String(repeating: "a", count: 3900)), count: 9), "431"),
            ("/", Array(repeating: ("x", "a"), count: 101), "431"),
            ("/", [("host", "b")], "400"), ("https://b/", [], "400"), ("/%", [], "400"),
            ("/", [("expect", "x")], "400"),
        ] as [(String, [(String, String)], String)]
    )
    func rules(_ path: String, _ fields: [(String, String)], _ status: String) throws {
        let connection = try EmbeddedHTTP2()
        let stream = connection.request(path, fields)
        #expect(connection.response(on: stream).status == ":status: \(status)")
        #expect(connection.response(on: stream).isEnded && connection.journal.refusals.count == 1)
        #expect(connection.streams.allSatisfy { $0.application.heads.isEmpty } && connection.goAways.isEmpty)
    }

    @Test(
        "SRV-14 what is malformed ends its stream only",
        arguments: [("connection", "close"), ("transfer-encoding", "chunked"), ("X-Upper", "a"), ("x", "a\r\nb: c")]
    )
    func malformed(_ field: (String, String)) throws {
        let connection = try EmbeddedHTTP2()
        let stream = connection.request("/", [field])
        #expect(connection.response(on: stream).reset == .protocolError && connection.streams.isEmpty)
        let other = connection.request()
        connection.streams[0].application.respond("yes")
        #expect(connection.response(on: other).body == "yes")
    }

    @Test("SRV-14 a body that stops gets 408, the stream ends and the connection goes on")
    func slowBody() throws {
        let connection = try EmbeddedHTTP2(ConnectionLimits(bodyIdle: .seconds(5)))
        let stream = connection.request(method: "POST", endStream: false)
        connection.streams[0].channel.read()
        connection.advance(seconds: 6)
        let response = connection.response(on: stream)
        #expect(response.status == ":status: 408" && response.reset == .noError && connection.goAways.isEmpty)
    }

    @Test("SRV-14 a client that opens no window is sent nothing, and its stream ends as for any stalled reader")
    func stalled() throws {
        let connection = try EmbeddedHTTP2(ConnectionLimits(idleTimeout: .seconds(600)), window: 10)
        let stream = connection.request()
        connection.streams[0].application.respond(String(repeating: "x", count: 100_000))
        #expect(connection.response(on: stream).body.utf8.count == 10)
        #expect(connection.streams[0].channel.isWritable == false)
        connection.advance(seconds: 40)
        #expect(connection.response(on: stream).reset == .cancel && connection.journal.cuts == [.writeStalled])
        let small = connection.request()
        connection.streams[1].application.respond("0123456789")
        #expect(connection.response(on: small).isEnded && connection.goAways.isEmpty)
    }

    @Test("SRV-14 a slow reader is served to the end, as long as it takes a frame now and then")
    func slow() throws {
        let connection = try EmbeddedHTTP2(window: 16_384)
        let stream = connection.request()
        let text = String(repeating: "x", count: 16_384 * 6)
        connection.send(.rootStream, .windowUpdate(windowSizeIncrement: 1 << 20))
        connection.streams[0].application.respond(text)
        for _ in 1...5 {
            connection.advance(seconds: 20)
            connection.send(stream, .windowUpdate(windowSizeIncrement: 16_384))
        }
        #expect(connection.response(on: stream).body == text && connection.journal.cuts.isEmpty)
    }

    @Test("A request waits for the turn of its client, each stream for itself")
    func turns() throws {
        let connection = try EmbeddedHTTP2(clientUnits: 12)
        for _ in 1...3 { connection.request() }
        connection.pump()
        #expect(connection.streams.map(\.application.ends) == [1, 1, 1])
    }
}
