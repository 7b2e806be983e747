import Sandbox

/// The page that shows a gallery: a row for each screen, a column for each state.
struct GalleryIndex: Sendable {
    /// One screen in one state.
    struct Cell: Sendable {
        let state: String
        /// With the name of the screen as its route.
        let met: FrontCoverage.Met
        var hasPicture = false
    }

    let rows: [(screen: GalleryScreen, target: String)]
    let states: [String]
    let cells: [Cell]
    /// Whether pictures were to be taken, and could be.
    let hasBrowser: Bool

    /// `43 screens in 10 states, 200 pictures`.
    var summary: String {
        "\(rows.count) screens in \(states.count) states, \(cells.count(where: \.hasPicture)) pictures"
    }

    var html: String {
        let hint =
            hasBrowser
            ? ""
            : " Pictures of the pages: <code>larder gallery DIR --screenshot</code>, with Chromium on the path, such "
                + "as Debian's <code>chromium-headless-shell</code>."
        let head = (["screen"] + states).map { "<th>\(ScenarioReport.escaped($0))" }.joined()
        return """
            <!doctype html>
            <html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
            <title>Gallery of Larder</title>
            <style>
            body { font: 14px system-ui, sans-serif; margin: 1rem } table { border-collapse: collapse }
            th, td { border: 1px solid #ccc; padding: .4rem; text-align: left; vertical-align: top }
            thead th { position: sticky; top: 0; background: #fff }
            img { display: block; width: 240px; margin-top: .3rem }
            </style>
            <h1>Gallery of Larder</h1>
            <p>\(summary). A cell links to the response.\(hint)</p>
            <table><thead><tr>\(head)</thead><tbody>
            \(rows.map { row($0.screen, $0.target) }.joined(separator: "\n"))
            </tbody></table></html>

            """
    }

    /// Returns a text as a part of a file's name, which is one of an address, too.
    static func fileName(_ text: String) -> String {
        text.split { !$0.isASCII || !($0.isLetter || $0.isNumber || "_-".contains($0)) }.joined(separator: "-")
    }

    private func row(_ screen: GalleryScreen, _ target: String) -> String {
        let own = cells.filter { $0.met.route == screen.name }
        let columns = states.map { state in own.first { $0.state == state }.map(Self.column) ?? "<td>" }
        let (name, address) = (ScenarioReport.escaped(screen.name), ScenarioReport.escaped(target))
        return "<tr><th>\(name)<br><code>\(address)</code>" + columns.joined()
    }

    private static func column(_ cell: Cell) -> String {
        let file = "\(fileName(cell.met.route))/\(cell.state)"
        let picture =
            cell.hasPicture ? "<a href=\"\(file).png\"><img src=\"\(file).png\" alt=\"\" loading=\"lazy\"></a>" : ""
        return "<td><a href=\"\(file).json\">\(ScenarioReport.escaped(cell.met.text))</a>\(picture)"
    }
}
