import Foundation

/// The LibreOffice profile of a job. Each job has its own: two instances at a time on one profile fail, and a document
/// must not affect the next one by what it changes there.
enum OfficeProfile {
    /// Settings that differ from the defaults: documents load no other files, and no macro runs.
    private static let settings = [
        ("Common/Security/Scripting", "BlockUntrustedRefererLinks", "true"),
        ("Common/Security/Scripting", "DisableMacrosExecution", "true"),
        ("Common/Security/Scripting", "DisableActiveContent", "true"),
        ("Common/Security/Scripting", "MacroSecurityLevel", "3"),
        ("Writer/Content/Update", "Link", "0"),
        ("Calc/Content/Update", "Link", "1"),
    ]

    /// The content of `registrymodifications.xcu`.
    static var registry: String {
        let items = settings.map { path, name, value in
            #"<item oor:path="/org.openoffice.Office.\#(path)">"#
                + #"<prop oor:name="\#(name)" oor:op="fuse"><value>\#(value)</value></prop></item>"#
        }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema" \
            xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
            \(items.joined(separator: "\n"))
            </oor:items>

            """
    }

    /// Writes a profile into a job's directory and returns its URL.
    ///
    /// - Throws: Foundation's error.
    static func make(in folder: JobDirectory) throws -> String {
        let user = folder.path("profile/user")
        try FileManager.default.createDirectory(atPath: user, withIntermediateDirectories: true)
        _ = try folder.write(Data(registry.utf8), as: "profile/user/registrymodifications.xcu")
        return URL(filePath: folder.path("profile"), directoryHint: .notDirectory).absoluteString
    }
}
