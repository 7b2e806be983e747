import Foundation

/// A setting of Larder: its one name everywhere, the values it accepts, its default and its description.
///
/// It is declared once, where it is used, and read by its declaration, whose type is that of the value:
/// `settings[ShipsApp.loginDelay]`.
package struct Setting<Value: Sendable>: SettingDeclaration {
    package let key: String
    package let defaultValue: Value
    package let standard: String?
    package let summary: String
    package let note: String
    private let form: SettingForm<Value>

    /// - Parameters:
    ///   - key: Its name; an ending such as `_ms` is the unit of the numbers.
    ///   - form: The accepted values, in the unit of the key.
    ///   - isShown: False if the default is determined at start.
    ///   - note: An addition to the reference page, in Markdown; empty for none.
    package init(
        _ key: String,
        _ form: SettingForm<Value>,
        default defaultValue: Value,
        isShown: Bool = true,
        _ summary: String,
        note: String = ""
    ) {
        (self.key, self.form, self.defaultValue) = (key, form, defaultValue)
        (self.summary, self.note) = (summary, note)
        standard = isShown ? form.text(defaultValue) : nil
    }

    package var accepted: String { form.accepted }
    package var column: String { form.column }
    package var isList: Bool { form.isList }

    package func value(of text: String) -> (any Sendable)? { form.value(text).map { $0 as any Sendable } }
}

extension Setting: Equatable {
    /// Settings are distinguished by their keys.
    package static func == (one: Setting, other: Setting) -> Bool { one.key == other.key }
}

/// A setting without the type of its values, for lists of settings.
package protocol SettingDeclaration: Sendable {
    /// Name with dots, such as `upstreams.spacex.url`.
    var key: String { get }
    /// The accepted values, for people.
    var accepted: String { get }
    /// The same, short enough for a column of the reference page.
    var column: String { get }
    /// Whether a value is a list of words.
    var isList: Bool { get }
    /// The default value, as it would be written; nil if it is determined at start.
    var standard: String? { get }
    var summary: String { get }
    /// An addition to the reference page, in Markdown; empty for none.
    var note: String { get }

    /// Returns the value of a text; nil if the setting does not accept it.
    func value(of text: String) -> (any Sendable)?
}

/// The values that settings accept, and how they are written.
package struct SettingForm<Value: Sendable>: Sendable {
    let accepted: String
    let column: String
    let isList: Bool
    let value: @Sendable (String) -> Value?
    let text: @Sendable (Value) -> String

    /// - Parameters:
    ///   - accepted: the accepted values, for people.
    ///   - column: the same in a column; nil for the same words.
    ///   - value: reads a text; nil for one that is not accepted.
    ///   - text: writes a value.
    package init(
        _ accepted: String,
        column: String? = nil,
        isList: Bool = false,
        value: @escaping @Sendable (String) -> Value?,
        text: @escaping @Sendable (Value) -> String
    ) {
        (self.accepted, self.column, self.isList) = (accepted, column ?? accepted, isList)
        (self.value, self.text) = (value, text)
    }

    package static func numbers(
        _ range: ClosedRange<Int>,
        value: @escaping @Sendable (Int) -> Value,
        number: @escaping @Sendable (Value) -> Int
    ) -> Self {
        SettingForm(
            "a whole number from \(range.lowerBound) to \(range.upperBound)",
            column: "\(range.lowerBound)…\(range.upperBound == .max ? "2⁶³−1" : "\(range.upperBound)")",
            value: { text in Int(text).flatMap { range.contains($0) ? value($0) : nil } },
            text: { "\(number($0))" }
        )
    }

    /// One of these words.
    static func words(
        _ words: [String],
        value: @escaping @Sendable (String) -> Value?,
        text: @escaping @Sendable (Value) -> String
    ) -> Self {
        SettingForm(
            words.joined(separator: " or "),
            column: words.map { "`\($0)`" }.joined(separator: ", "),
            value: value,
            text: text
        )
    }

    /// Words separated by commas, each of which is an element; `column` names them.
    package static func elements<Element: Sendable>(
        _ accepted: String,
        column: String,
        element: @escaping @Sendable (String) -> Element?,
        text: @escaping @Sendable (Element) -> String
    ) -> Self where Value == [Element] {
        SettingForm(
            accepted,
            column: "\(column), separated by commas",
            isList: true,
            value: { list in
                let words = list.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
                let elements = words.filter { !$0.isEmpty }.map(element)
                return elements.contains { $0 == nil } ? nil : elements.compactMap { $0 }
            },
            text: { $0.map(text).joined(separator: ",") }
        )
    }
}

extension SettingForm<Int> {
    package static func integer(_ range: ClosedRange<Int>, unit: Int = 1) -> Self {
        numbers(range, value: { $0 * unit }, number: { $0 / unit })
    }
    package static func kibibytes(_ range: ClosedRange<Int>) -> Self { integer(range, unit: 1 << 10) }
    package static func mebibytes(_ range: ClosedRange<Int>) -> Self { integer(range, unit: 1 << 20) }
}

extension SettingForm<Duration> {
    package static func milliseconds(_ range: ClosedRange<Int>) -> Self { multiples(of: .milliseconds(1), range) }
    package static func seconds(_ range: ClosedRange<Int>) -> Self { multiples(of: .seconds(1), range) }
    package static func days(_ range: ClosedRange<Int>) -> Self { multiples(of: .days(1), range) }

    private static func multiples(of unit: Duration, _ range: ClosedRange<Int>) -> Self {
        numbers(range, value: { unit * $0 }, number: { Int($0 / unit) })
    }
}

extension SettingForm<Bool> {
    package static var flag: Self { words(["true", "false"], value: { Bool($0) }, text: { "\($0)" }) }
}

extension SettingForm where Value: RawRepresentable<String> & CaseIterable {
    /// The raw values of an enumeration.
    package static var choice: Self {
        words(Value.allCases.map(\.rawValue), value: { Value(rawValue: $0) }, text: { $0.rawValue })
    }
}

extension SettingForm<String> {
    package static var text: Self { SettingForm("any text", column: "text", value: { $0 }, text: { $0 }) }
}

extension SettingForm<[String]> {
    package static var list: Self {
        elements("words separated by commas", column: "words", element: { $0 }, text: { $0 })
    }
}

extension Duration {
    /// Days of 24 hours.
    package static func days(_ count: Int) -> Duration { .seconds(count * 86_400) }
}

/// The values of settings: those that are set, and the defaults of all others.
package struct SettingValues: Sendable {
    private var values: [String: any Sendable] = [:]

    /// Creates values of which none is set.
    package init() {}

    package subscript<Value>(_ setting: Setting<Value>) -> Value {
        get {
            // Without the guard, a missing value would be nil of an optional type.
            guard let value = values[setting.key] else { return setting.defaultValue }
            return value as? Value ?? setting.defaultValue
        }
        set { values[setting.key] = newValue }
    }

    /// Sets a value from its written form.
    ///
    /// - Returns: False if the setting does not accept it.
    package mutating func set(_ setting: any SettingDeclaration, to text: String) -> Bool {
        guard let value = setting.value(of: text) else { return false }
        values[setting.key] = value
        return true
    }

    /// Whether a setting has a value other than by default.
    package func isSet(_ setting: any SettingDeclaration) -> Bool { values[setting.key] != nil }

    /// Returns the values of these settings and no others.
    package func restricted(to settings: [any SettingDeclaration]) -> SettingValues {
        let keys = Set(settings.map(\.key))
        var own = self
        own.values = values.filter { keys.contains($0.key) }
        return own
    }
}

/// An unusable setting: its name, where it was set, and the values that it accepts.
package enum SettingError: Error, CustomStringConvertible, Equatable {
    case unknown(name: String, source: String, similar: [String])
    /// Upstreams have no such setting; `known` are the last parts of the names that they have.
    case unknownOfUpstream(name: String, source: String, known: [String])
    /// The setting does not accept this value.
    case unacceptable(key: String, value: String, source: String, accepted: String)
    /// An argument is neither a flag nor the value of one.
    case unexpected(argument: String)
    /// A flag is not followed by a value.
    case missingValue(flag: String)
    /// The configuration file cannot be read.
    case file(path: String, reason: String)

    package var description: String {
        switch self {
        case .unknown(let name, let source, let similar):
            let hint =
                similar.isEmpty
                ? "larder settings lists all" : "did you mean \(similar.joined(separator: " or "))?"
            return "\(source): there is no setting \(name); \(hint)"
        case .unknownOfUpstream(let name, let source, let known):
            return "\(source): there is no setting \(name); an upstream has \(known.joined(separator: ", "))"
        case .unacceptable(let key, let value, let source, let accepted):
            return "\(source): \(key) cannot be \"\(value)\"; it accepts \(accepted)"
        case .unexpected(let argument):
            return "command line: \"\(argument)\" is not expected; a setting is a flag and a value: --http-port 8081"
        case .missingValue(let flag):
            return "command line: \(flag) needs a value"
        case .file(let path, let reason):
            return "configuration file \(path): \(reason)"
        }
    }
}
