package dist

// This file passes the exit codes of ranks around the launcher: see Note [Exit codes].

import (
	"os"
	"path/filepath"
	"strconv"
)

// statusVariable names the directory in which ranks leave their exit codes.
const statusVariable = "FLOWRUN_STATUS_DIR"

// Leave records the exit code of a rank that Launch has started, and returns it: with
// LaunchOptions.Leaves a program ends every rank by os.Exit(dist.Leave(code)). Elsewhere it does
// nothing.
func Leave(code int) int {
	if dir := os.Getenv(statusVariable); dir != "" {
		// If it cannot be written Launch assumes a failure, the safe side.
		_ = os.WriteFile(filepath.Join(dir, strconv.Itoa(os.Getpid())), []byte(strconv.Itoa(code)), 0o600)
	}
	return code
}

// Leaving records that a rank has been told to stop and will end with code, unless it has recorded
// an end already. Leave overwrites it. Call it first: a launcher that was told to stop kills its
// ranks a second later, which on a busy machine may be before they end.
func Leaving(code int) {
	dir := os.Getenv(statusVariable)
	if dir == "" {
		return
	}
	if f, err := os.OpenFile(filepath.Join(dir, strconv.Itoa(os.Getpid())), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
		_, _ = f.WriteString(strconv.Itoa(code)) // as in Leave
		_ = f.Close()
	}
}

// onThisMachine reports whether the environment gives an Open MPI launcher no other machines: ranks
// there could neither leave anything here nor be seen.
func onThisMachine() bool {
	for _, name := range []string{"SLURM_JOB_ID", "SLURM_JOBID", "PBS_NODEFILE", "LSB_HOSTS", "PE_HOSTFILE", "OMPI_MCA_orte_default_hostfile"} {
		if os.Getenv(name) != "" {
			return false
		}
	}
	return true
}

// hasLeft reports whether a process has recorded its exit code.
func hasLeft(dir string, pid int) bool {
	_, err := os.Stat(filepath.Join(dir, strconv.Itoa(pid)))
	return err == nil
}

// collect returns the exit code of a job: the largest that a rank left, at least 1 if some left
// none.
func collect(dir string, ranks int) int {
	files, err := os.ReadDir(dir)
	code := 0
	if err != nil || len(files) < ranks {
		code = 1
	}
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		n, bad := strconv.Atoi(string(b))
		if err != nil || bad != nil {
			n = 1
		}
		code = max(code, n)
	}
	return code
}

// Note [Exit codes]
//
// Open MPI's mpirun ends a job when the first rank ends with a nonzero code: it kills the rest,
// which takes 2 s. Our ranks end together by themselves, so that is switched off, which took a
// failed job from 2.1 to 0.07 s; but then mpirun reports 0 for any exit code. So ranks leave their
// codes in files, and a rank without a file has failed.
//
// After a rank was killed such an mpirun (4.1.4) kills no other rank, and may stay for ever when
// all ranks have gone. The other ranks notice a death once the run has begun, but not in MPI_Init
// and before the handshake. So Launch watches the ranks (watch): it stops those that stay too long
// after a death, and ends an mpirun that stays without ranks.
