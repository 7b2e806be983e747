import Foundation
import Logging
import Screens

enum LogFormat: String, CaseIterable, Sendable {
    /// A line for people.
    case text
    /// One JSON object on each line, for programs.
    case json
}

/// Writes the log to standard error. Each message is one line and one write, so that lines of several threads do not
/// mix.
struct LarderLogHandler: LogHandler {
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    private let label: String
    private let format: LogFormat
    private let write: @Sendable (String) -> Void

    init(
        label: String,
        format: LogFormat,
        level: Logger.Level,
        write: @escaping @Sendable (String) -> Void = { StandardError.write($0) }
    ) {
        self.label = label
        self.format = format
        logLevel = level
        self.write = write
    }

    /// Makes this the log of the process. Must be called once.
    static func bootstrap(_ configuration: LarderConfiguration) {
        let settings = configuration.settings
        let (format, level) = (settings[ServerSettings.logFormat], settings[ServerSettings.logLevel])
        LoggingSystem.bootstrap {
            var handler = LarderLogHandler(label: $0, format: format, level: level)
            if let node = configuration.node.name { handler[metadataKey: "node"] = "\(node)" }
            return handler
        }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var fields = metadata
        if let provided = metadataProvider?.get() { fields.merge(provided) { _, new in new } }
        if let own = event.metadata { fields.merge(own) { _, new in new } }
        let time = Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true, timeZone: .gmt))
        switch format {
        case .text: write(text(of: event, time, fields))
        case .json: write(json(of: event, time, fields))
        }
    }

    private func text(of event: LogEvent, _ time: String, _ fields: Logger.Metadata) -> String {
        let pairs = fields.sorted { $0.key < $1.key }.map { " \($0.key)=\(Self.quoted("\($0.value)"))" }.joined()
        return "\(time) \(event.level.rawValue) \(label): \(Self.singleLine("\(event.message)"))\(pairs)\n"
    }

    private func json(of event: LogEvent, _ time: String, _ fields: Logger.Metadata) -> String {
        var object = fields.mapValues(JSONLogValue.init)
        let own = ["time": time, "level": event.level.rawValue, "label": label, "message": "\(event.message)"]
        for (key, text) in own { object[key] = JSONLogValue(.string(text)) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // A dictionary of texts and finite numbers can always be encoded, so the fallback is never used.
        let data = (try? encoder.encode(object)) ?? Data()
        return String(decoding: data, as: UTF8.self) + "\n"
    }

    /// Removes line breaks, because a value may contain input of a client, which must not begin a line of its own.
    private static func singleLine(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : $0 }))
    }

    private static func quoted(_ text: String) -> String {
        let clean = singleLine(text)
        return clean.contains(where: { $0 == " " || $0 == "\"" || $0 == "=" }) || clean.isEmpty
            ? "\"\(clean.replacing("\"", with: "'"))\"" : clean
    }
}

extension Logger {
    /// For a command that reports everything in its own output.
    static let silent = Logger(label: "larder") { _ in SwiftLogNoOpLogHandler() }
}

/// A value of the log in JSON. Numbers are numbers; everything else is a text.
private struct JSONLogValue: Encodable {
    private let value: Logger.MetadataValue

    init(_ value: Logger.MetadataValue) { self.value = value }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        guard case .stringConvertible(let number) = value else { return try container.encode("\(value)") }
        switch number {
        case let number as any BinaryInteger & Encodable: try container.encode(number)
        case let number as Double where number.isFinite: try container.encode(number)
        default: try container.encode("\(value)")
        }
    }
}
