import Larder

/// The program `larder`.
@main enum LarderMain {
    @MainActor static func main() async { await LarderProgram.main() }
}
