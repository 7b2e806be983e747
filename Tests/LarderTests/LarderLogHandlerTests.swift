import Foundation
import HTTPTypes
import Logging
import NIOConcurrencyHelpers
import Screens
import Server
import TestKit
import Testing

@testable import Larder

@Suite struct LarderLogHandlerTests {
    private func line(_ format: LogFormat, _ message: Logger.Message, _ metadata: Logger.Metadata) -> String {
        let written = NIOLockedValueBox("")
        var logger = Logger(label: "test") { label in
            LarderLogHandler(label: label, format: format, level: .info) { text in
                written.withLockedValue { $0 += text }
            }
        }
        logger[metadataKey: "request_id"] = "r-1"
        logger.debug("not this one")
        logger.notice(message, metadata: metadata)
        return written.withLockedValue { $0 }
    }

    @Test("SRV-12 JSON: one object a line, with time, level and request id")
    func json() throws {
        let text = line(.json, "hello \"you\"", ["path": "/v1\nforged"])
        #expect(text.hasSuffix("\n") && text.split(separator: "\n").count == 1)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: String])
        #expect(
            object["message"] == "hello \"you\"" && object["level"] == "notice" && object["request_id"] == "r-1"
                && object["path"] == "/v1\nforged"
        )
        #expect(
            try Date(try #require(object["time"]), strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
                <= Date()
        )
    }

    @Test("SRV-12 JSON has numbers as numbers, and texts of digits as texts")
    func numbers() throws {
        let fields: Logger.Metadata = [
            "count": .stringConvertible(7082), "seconds": .stringConvertible(6.5),
            "none": .stringConvertible(Double.nan),
            "path": "200",
        ]
        let text = line(.json, "503", fields)
        for part in [#""count":7082,"#, #""seconds":6.5,"#, #""none":"nan","#, #""path":"200","#] {
            #expect(text.contains(part), "\(text)")
        }
        #expect(line(.text, "503", fields).contains("count=7082 none=nan path=200 request_id=r-1 seconds=6.5"))
    }

    @Test("SRV-12 status and time of a request are numbers")
    func request() throws {
        let written = NIOLockedValueBox("")
        let logger = Logger(label: "test") { label in
            LarderLogHandler(label: label, format: .json, level: .info) { text in
                written.withLockedValue { $0 += text }
            }
        }
        let measurements = RequestMeasurements(RequestLabels(method: .get, route: "/v1", status: 200))
        RequestRecord(method: .get, path: "/v1", status: 200, measurements: measurements)
            .note(.microseconds(70), logger: logger)
        let text = written.withLockedValue { $0 }
        #expect(text.contains(#""ms":0.07,"#) && text.contains(#""status":200,"#), "\(text)")
    }

    @Test("SRV-11 text: what a client sent cannot begin a line of its own")
    func text() {
        let text = line(.text, "hello", ["path": "/v1\n2026 error forged=1"])
        #expect(text.split(separator: "\n").count == 1)
        #expect(text.contains("notice test: hello path=\"/v1 2026 error forged=1\" request_id=r-1"))
    }
}
