import HTTPSemantics
import HTTPTypes

/// Cache directives for one class of caches, such as `CDN-Cache-Control`. RFC 9213.
enum TargetedCacheControl {
    /// Directives that take a whole number of seconds.
    private static let counted: Set<String> = ["max-age", "s-maxage", "stale-while-revalidate", "stale-if-error"]

    /// Returns the directives of the first field on the target list that is present, valid and not empty. RFC 9213
    /// §2.2.
    static func first(of targets: [HTTPField.Name], in fields: HTTPFields) -> CacheControl? {
        for target in targets {
            let lines = fields[values: target]
            if !lines.isEmpty, let control = parse(lines.joined(separator: ", ")) { return control }
        }
        return nil
    }

    /// Reads the field, which is a dictionary: it is ignored if it is empty or malformed, or if a count is not an
    /// integer. RFC 9213 §2.1.
    static func parse(_ text: String) -> CacheControl? {
        guard let dictionary = StructuredDictionary(text), !dictionary.members.isEmpty else { return nil }
        var control = CacheControl()
        for (name, value) in dictionary.members {
            switch value {
            case .integer(let number) where counted.contains(name):
                control.directives.append(.init(name: name, argument: number < 0 ? .invalid : .value(String(number))))
            case _ where counted.contains(name): return nil
            case .boolean(false): continue
            case .boolean(true): control.directives.append(.init(name: name))
            case .string(let text), .token(let text):
                control.directives.append(.init(name: name, argument: .value(text)))
            case .integer(let number): control.directives.append(.init(name: name, argument: .value(String(number))))
            case .other: control.directives.append(.init(name: name, argument: .invalid))
            }
        }
        return control
    }
}
