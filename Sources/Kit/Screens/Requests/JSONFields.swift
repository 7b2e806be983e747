package import Foundation
package import JSONValues

/// The fields of a JSON object that a client sent, read one by one: a problem names every field at fault, not just the
/// first.
package struct JSONFields: Sendable {
    package let values: JSONObject

    /// The fields of an object within another.
    package init(_ values: JSONObject) { self.values = values }

    /// - Parameter title: names the text in problems; nil for the body of a request.
    /// - Throws: 400 `malformed-json` if the bytes are not JSON (`JSONParser`) or not an object.
    package init(_ data: Data, named title: String? = nil) throws {
        let begin = title ?? "The body"
        guard !data.isEmpty else {
            let ofFile = title.map { "\($0) пуст: нужен объект JSON." }
            throw Problem(.malformedJSON, .ofFile("\(begin) is empty; a JSON object is expected.", ru: ofFile))
        }
        let value: JSONValue
        do throws(JSONSyntaxError) {
            value = try JSONParser.parse(Array(data), .interoperable)
        } catch {
            throw Problem(error, of: title)
        }
        guard let values = value.object else {
            let ofFile = title.map { "\($0) — это JSON, но не объект." }
            throw Problem(.malformedJSON, .ofFile("\(begin) is JSON, but not an object.", ru: ofFile))
        }
        self.values = values
    }

    /// Returns a text field; nil if it is absent or null.
    /// - Throws: 422 if it is something else.
    package func string(_ name: String) throws -> String? {
        switch values[name] {
        case nil, .null: nil
        case .string(let text): text
        default: throw Problem.validation([.field("/\(name)", "invalid", "\(name) must be a string.")])
        }
    }

    /// Returns a list of texts; nil if it is absent or null.
    /// - Throws: 422 if it is something else.
    package func strings(_ name: String) throws -> [String]? {
        switch values[name] {
        case nil, .null: return nil
        case .array(let items):
            return try items.enumerated().map { index, item in
                guard case .string(let text) = item else {
                    throw Problem.validation([
                        .field("/\(name)/\(index)", "invalid", "\(name) must be a list of strings.")
                    ])
                }
                return text
            }
        default: throw Problem.validation([.field("/\(name)", "invalid", "\(name) must be a list of strings.")])
        }
    }

    /// Returns one of the values of a type.
    /// - Throws: 422 if it is absent, null or something else.
    package func choice<Value: RawRepresentable<String> & CaseIterable>(_ name: String, of type: Value.Type) throws
        -> Value
    {
        let text = try string(name)
        guard let value = text.flatMap(Value.init) else {
            let accepted = Value.allCases.map(\.rawValue).joined(separator: ", ")
            let code = text == nil ? "required" : "invalid"
            throw Problem.validation([.field("/\(name)", code, "\(name) must be one of \(accepted).")])
        }
        return value
    }
}

extension Problem {
    /// 400: a body is not JSON; names the place, and nothing of the content but names of members.
    fileprivate init(_ defect: JSONSyntaxError, of title: String?) {
        let (begin, text) = (title ?? "The body", title ?? "the body")
        let most = JSONParser.maximumDepth
        let (code, ofBody, ofFile): (String, String, String) =
            switch defect.reason {
            case .malformed: ("invalid", "\(begin) is not valid JSON", "\(text) — неправильный JSON")
            case .tooDeep:
                ("invalid", "\(begin) is nested deeper than \(most) levels", "\(text): вложенность больше \(most)")
            case .number: ("too-large", "A number of \(text) is too large", "\(text): слишком большое число")
            case .repeatedName(let name):
                (
                    "duplicate", "An object of \(text) has two members named \(UploadedForm.legible(name))",
                    "\(text): у объекта два члена с именем \(UploadedForm.legible(name))"
                )
            }
        let place = "строка \(defect.line), позиция \(defect.column)"
        let detail = Text.ofFile(
            "\(ofBody): line \(defect.line), column \(defect.column).",
            ru: title.map { _ in "\(ofFile): \(place)." }
        )
        // The pointer to a value that is too deep would be as long as the body.
        let isNamed = !defect.pointer.tokens.isEmpty && defect.reason != .tooDeep
        let pointer = defect.pointer.tokens.map { "/" + JSONPointer.legible($0) }.joined()
        self.init(.malformedJSON, detail, errors: isNamed ? [.field(pointer, code, detail)] : [])
    }
}

extension Text {
    /// A fault of a file, which people can mend; that of a body (nil) is for authors of clients only.
    fileprivate static func ofFile(_ english: String, ru russian: String?) -> Text {
        russian.map { Text(english, ru: $0) } ?? Text(verbatim: english)
    }
}

extension JSONPointer {
    /// Returns a name as part of a pointer, as long as a message may have it.
    static func legible(_ name: String) -> String { escaped(UploadedForm.legible(name)) }
}

// Times, profiles, and members that are not known.
extension JSONFields {
    /// Returns a time (ISO 8601, UTC); nil if it is absent or null.
    /// - Throws: 422 if it is something else.
    package func time(_ name: String) throws -> Date? {
        guard let text = try string(name) else { return nil }
        for hasFractions in [false, true] {
            let style = Date.ISO8601FormatStyle(includingFractionalSeconds: hasFractions)
            // The other form may fit.
            if let date = try? style.parse(text) { return date }
        }
        throw Problem.validation([.field("/\(name)", "invalid", "\(name) must be a time such as 2026-01-05T10:00:00Z.")]
        )
    }

    /// Returns the profile that `profile` names; ``Pairing/standardProfile`` if it is absent.
    /// - Throws: 422 if it cannot be one.
    package func profile() throws -> String {
        let name = try string("profile") ?? Pairing.standardProfile
        guard ScreenRequest.isProfile(name) else {
            throw Problem.validation([
                .field("/profile", "invalid", "profile must be one name of \(ScreenRequest.profileForm).")
            ])
        }
        return name
    }

    /// - Throws: 422 that names each field that is none of these.
    package func requireOnly(_ names: String...) throws {
        let others = values.members.map(\.name).filter { !names.contains($0) }.sorted()
        guard !others.isEmpty else { return }
        throw Problem.validation(
            others.map {
                .field("/\(JSONPointer.legible($0))", "unknown", "Known are \(names.joined(separator: ", ")).")
            }
        )
    }
}
