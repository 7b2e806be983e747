import Screens
import Settings

extension SettingError {
    /// Returns the error for a name that no setting has: with the settings of upstreams if it begins like one of them,
    /// else with the nearest names, or else with those that have the same words at their end or beginning.
    static func unknown(_ name: String, source: String, among known: [String]) -> SettingError {
        // `--port` is nearer to `--import` than to `--http-port`, which it means.
        let last = words(of: name).count == 1 ? related(to: name, among: known) : []
        let nearest = last.isEmpty ? NameSuggestions(for: name, among: known).names : last
        guard nearest.isEmpty else { return .unknown(name: name, source: source, similar: nearest) }
        return words(of: name).first == "upstreams"
            ? .unknownOfUpstream(name: name, source: source, known: UpstreamSettings.endings)
            : .unknown(name: name, source: source, similar: related(to: name, among: known))
    }

    /// Returns the error for a flag that is neither a setting nor one of the command: with the commands that have it,
    /// if any, else with what the command has.
    static func unknown(flag: String, _ settings: [String], _ commandFlags: CommandFlags?) -> SettingError {
        let (own, elsewhere) = (commandFlags?.own ?? [], commandFlags?.elsewhere(flag) ?? [])
        guard elsewhere.isEmpty else { return .unknown(name: flag, source: "command line", similar: elsewhere) }
        return unknown(flag, source: "command line", among: settings + own)
    }

    /// Returns at most three known names whose last words are those of a name, such as `--http-port` for `--port`, or
    /// that begin with it, such as `--data-directory` for `--data`.
    private static func related(to name: String, among known: [String]) -> [String] {
        let words = words(of: name)
        guard !words.isEmpty else { return [] }
        let ending = known.filter { self.words(of: $0).suffix(words.count).elementsEqual(words) }
        let beginning = known.filter {
            self.words(of: $0).joined(separator: " ").hasPrefix(words.joined(separator: " ")) && !ending.contains($0)
        }
        return Array((ending + beginning).prefix(3))
    }

    /// Returns the words of a key, a flag or a variable, which are the same for the three spellings of a setting.
    private static func words(of name: String) -> [Substring] {
        let words = name.lowercased().split { "-._".contains($0) }
        return words.first == "larder" ? Array(words.dropFirst()) : words
    }
}
