/// An unusable setting: its name, where it was set, and the values that it accepts.
package enum SettingError: Error, CustomStringConvertible, Equatable {
    /// No setting has this name.
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

    /// One line for people.
    package var description: String {
        switch self {
        case .unknown(let name, let source, let similar):
            let hint =
                similar.isEmpty
                ? "larder serve --help lists all settings" : "did you mean \(similar.joined(separator: " or "))?"
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
